// SPDX-License-Identifier: Apache-2.0

#include "CMartletPages.h"

// The relay's page shares the styles and the DOM functions of the inbox.
static const unsigned char style_css[] = {
#embed "inbox/style.css"
};
static const unsigned char dom_js[] = {
#embed "inbox/dom.js"
};
static const unsigned char index_html[] = {
#embed "relay/index.html"
};
static const unsigned char status_css[] = {
#embed "relay/status.css"
};
static const unsigned char status_js[] = {
#embed "relay/status.js"
};
static const unsigned char relay_js[] = {
#embed "relay/relay.js"
};
static const unsigned char plot_js[] = {
#embed "relay/plot.js"
};

#define FILE_AT(path, type, name) {path, type, name, sizeof name}
#define SCRIPT(name) FILE_AT("/page/" #name ".js", "text/javascript; charset=utf-8", name##_js)
#define STYLE(name) FILE_AT("/page/" #name ".css", "text/css; charset=utf-8", name##_css)

static const martlet_page_file files[] = {
    FILE_AT("/", "text/html; charset=utf-8", index_html),
    STYLE(style), STYLE(status),
    SCRIPT(dom), SCRIPT(status), SCRIPT(relay), SCRIPT(plot),
};

martlet_page_file martlet_relay_file_at(size_t index) {
    static const martlet_page_file none = {NULL, NULL, NULL, 0};
    return index < sizeof files / sizeof files[0] ? files[index] : none;
}
