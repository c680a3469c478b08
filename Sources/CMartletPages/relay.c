// SPDX-License-Identifier: Apache-2.0

#include "CMartletPages.h"

static const martlet_page_file files[] = {
#define EMBEDDED relay/dialog.js
#include "file.h"
#define EMBEDDED relay/expired.js
#include "file.h"
#define EMBEDDED relay/figures.js
#include "file.h"
#define EMBEDDED relay/fleet.js
#include "file.h"
#define EMBEDDED relay/incidents.js
#include "file.h"
#define EMBEDDED relay/index.html
#include "file.h"
#define EMBEDDED relay/jobs.js
#include "file.h"
#define EMBEDDED relay/lanes.js
#include "file.h"
#define EMBEDDED relay/letters.js
#include "file.h"
#define EMBEDDED relay/list.js
#include "file.h"
#define EMBEDDED relay/phones.js
#include "file.h"
#define EMBEDDED relay/plot.js
#include "file.h"
#define EMBEDDED relay/relay.js
#include "file.h"
#define EMBEDDED relay/runbook.js
#include "file.h"
#define EMBEDDED relay/status.css
#include "file.h"
#define EMBEDDED relay/status.js
#include "file.h"
#define EMBEDDED relay/users.js
#include "file.h"
#include "shared.h"
// The page shows the section about each problem, since the documentation has no fixed address.
#define EMBEDDED ../MartletRelay/Documentation.docc/Runbook.md
#include "file.h"
    {NULL, NULL},
};

const martlet_page_file *martlet_relay_files(void) { return files; }
