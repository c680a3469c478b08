// SPDX-License-Identifier: Apache-2.0

// The files that the inbox and the relay's page share, and the macros for the lists of files.
#ifndef MARTLET_CPAGES_SHARED_H
#define MARTLET_CPAGES_SHARED_H

#include "CMartletPages.h"

// #embed (C23, 6.10.4) includes a file unchanged. A Swift literal of the same size would take minutes to compile.
static const unsigned char style_css[] = {
#embed "shared/style.css"
};
static const unsigned char components_css[] = {
#embed "shared/components.css"
};
static const unsigned char components_js[] = {
#embed "shared/components.js"
};
static const unsigned char dom_js[] = {
#embed "shared/dom.js"
};
static const unsigned char icons_js[] = {
#embed "shared/icons.js"
};

#define FILE_AT(path, type, name) {path, type, name, sizeof name}
#define SCRIPT(file, name) FILE_AT("/page/" file ".js", "text/javascript; charset=utf-8", name##_js)
#define STYLE(file, name) FILE_AT("/page/" file ".css", "text/css; charset=utf-8", name##_css)

#define SHARED_FILES \
    STYLE("style", style), STYLE("components", components), \
    SCRIPT("components", components), SCRIPT("dom", dom), SCRIPT("icons", icons)

#endif
