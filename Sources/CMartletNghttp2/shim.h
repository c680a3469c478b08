// SPDX-License-Identifier: Apache-2.0

// nghttp2: HTTP/2 framing and HPACK without I/O. Everything Swift needs imports as it is.
#ifndef MARTLET_CNGHTTP2_H
#define MARTLET_CNGHTTP2_H

#include <nghttp2/nghttp2.h>

#endif
