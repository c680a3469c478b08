// SPDX-License-Identifier: Apache-2.0

#include "shared.h"

static const unsigned char index_html[] = {
#embed "relay/index.html"
};
static const unsigned char plot_js[] = {
#embed "relay/plot.js"
};
static const unsigned char relay_js[] = {
#embed "relay/relay.js"
};
static const unsigned char status_css[] = {
#embed "relay/status.css"
};
static const unsigned char status_js[] = {
#embed "relay/status.js"
};

static const martlet_page_file files[] = {
    FILE_AT("/", "text/html; charset=utf-8", index_html),
    SHARED_FILES,
    STYLE("status", status),
    SCRIPT("plot", plot),
    SCRIPT("relay", relay),
    SCRIPT("status", status),
};

martlet_page_file martlet_relay_file_at(size_t index) {
    static const martlet_page_file none = {NULL, NULL, NULL, 0};
    return index < sizeof files / sizeof files[0] ? files[index] : none;
}
