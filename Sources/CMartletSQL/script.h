// SPDX-License-Identifier: Apache-2.0

// The function that returns the text of a script, included once for each: `SCRIPT` is its name without the extension,
// and `ENGINE` that of its directory.
//
// #embed (C23, 6.10.4) includes a file unchanged; the zero ends the text. A directive cannot be part of a macro.
#define TEXT(path) #path
#define QUOTED(path) TEXT(path)
#define FUNCTION(engine, script) MARTLET_SQL(engine, script)
FUNCTION(ENGINE, SCRIPT) {
    static const unsigned char text[] = {
#embed QUOTED(ENGINE/SCRIPT.sql) suffix(, 0)
    };
    return (const char *)text;
}
#undef FUNCTION
#undef QUOTED
#undef TEXT
#undef SCRIPT
