// SPDX-License-Identifier: Apache-2.0

// zlib: the DEFLATE compression. The function below stands for a macro with arguments, which Swift cannot import.
#ifndef MARTLET_CZLIB_H
#define MARTLET_CZLIB_H

#include <zlib.h>

/// Prepares a stream for output in the gzip format; 16 more than the largest window selects that format.
static inline int martlet_zlib_start_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
