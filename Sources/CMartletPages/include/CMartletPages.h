// The files of the pages that a browser is shown, built into the program.
#ifndef MARTLET_CPAGES_H
#define MARTLET_CPAGES_H

#include <stddef.h>

/// One file that a browser can ask for.
typedef struct {
    /// The path it is asked for by.
    const char *path;
    /// Its media type.
    const char *type;
    const unsigned char *bytes;
    size_t count;
} martlet_page_file;

/// The file of the inbox with this index; its path is NULL behind the last.
martlet_page_file martlet_inbox_file_at(size_t index);

/// The file of the relay's page with this index; its path is NULL behind the last.
martlet_page_file martlet_relay_file_at(size_t index);

#endif
