// SPDX-License-Identifier: Apache-2.0

// The files of the web pages, embedded in the program.
#ifndef MARTLET_CPAGES_H
#define MARTLET_CPAGES_H

#include <stddef.h>

/// A file of a web page.
typedef struct {
    /// The path of the file in requests.
    const char *path;
    /// The media type.
    const char *type;
    const unsigned char *bytes;
    size_t count;
} martlet_page_file;

/// Returns the file of the inbox with this index; past the last file, its path is NULL.
martlet_page_file martlet_inbox_file_at(size_t index);

/// Returns the file of the relay's page with this index; past the last file, its path is NULL.
martlet_page_file martlet_relay_file_at(size_t index);

#endif
