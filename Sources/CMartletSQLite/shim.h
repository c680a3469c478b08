// SPDX-License-Identifier: Apache-2.0

// SQLite 3: rows in a file. The functions below stand for a macro that makes a function pointer of a number, which Swift
// cannot import, and for variadic functions, which it cannot call.
#ifndef MARTLET_CSQLITE_H
#define MARTLET_CSQLITE_H

#include <sqlite3.h>

/// Binds a copy of the text; SQLite takes a null pointer for NULL, which an empty text is not.
static inline int martlet_sqlite3_bind_text(sqlite3_stmt *statement, int position, const void *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, position, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds a copy of the bytes; SQLite takes a null pointer for NULL, which no bytes are not.
static inline int martlet_sqlite3_bind_blob(sqlite3_stmt *statement, int position, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, position, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/// Has SQLite not count its memory, for which it would take a lock each time; nobody asks for the count.
static inline int martlet_sqlite3_leave_memory_uncounted(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Has SQLite leave the log of a connection as it is when the connection is closed.
static inline int martlet_sqlite3_keep_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

#endif
