// SPDX-License-Identifier: Apache-2.0

// The files of the web pages, embedded in the program.
#ifndef MARTLET_CPAGES_H
#define MARTLET_CPAGES_H

#include <stddef.h>

/// A file of a web page.
typedef struct {
    /// The path of the file, relative to Sources/CMartletPages.
    const char *path;
    /// The content, which ends with a zero.
    const unsigned char *text;
} martlet_page_file;

/// Returns the files of the inbox; the path of the last element is NULL.
const martlet_page_file *martlet_inbox_files(void);

/// Returns the files of the relay's page; the path of the last element is NULL.
const martlet_page_file *martlet_relay_files(void);

#endif
