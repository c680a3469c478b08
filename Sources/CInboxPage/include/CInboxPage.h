// The files of the inbox's page, built into the program.
#ifndef MARTLET_CINBOXPAGE_H
#define MARTLET_CINBOXPAGE_H

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

/// The file of this index; its path is NULL behind the last.
martlet_page_file martlet_page_file_at(size_t index);

#endif
