// SPDX-License-Identifier: Apache-2.0

#include "shared.h"

static const unsigned char index_html[] = {
#embed "relay/index.html"
};
static const unsigned char figures_js[] = {
#embed "relay/figures.js"
};
static const unsigned char fleet_js[] = {
#embed "relay/fleet.js"
};
static const unsigned char incidents_js[] = {
#embed "relay/incidents.js"
};
static const unsigned char lanes_js[] = {
#embed "relay/lanes.js"
};
static const unsigned char letters_js[] = {
#embed "relay/letters.js"
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
    SCRIPT("figures", figures),
    SCRIPT("fleet", fleet),
    SCRIPT("incidents", incidents),
    SCRIPT("lanes", lanes),
    SCRIPT("letters", letters),
    SCRIPT("plot", plot),
    SCRIPT("relay", relay),
    SCRIPT("status", status),
};

martlet_page_file martlet_relay_file_at(size_t index) {
    static const martlet_page_file none = {NULL, NULL, NULL, 0};
    return index < sizeof files / sizeof files[0] ? files[index] : none;
}
