// SPDX-License-Identifier: Apache-2.0

// An element of a list of files, included once for each: `EMBEDDED` is the path of the file, without quotation marks.
//
// #embed (C23, 6.10.4) includes a file unchanged; the zero ends the text. A directive cannot be part of a macro, and a
// Swift literal of the same size would take minutes to compile.
#define TEXT(path) #path
#define QUOTED(path) TEXT(path)
{QUOTED(EMBEDDED), (const unsigned char[]){
#embed QUOTED(EMBEDDED) suffix(, 0)
}},
#undef EMBEDDED
#undef QUOTED
#undef TEXT
