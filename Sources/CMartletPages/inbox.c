// SPDX-License-Identifier: Apache-2.0

#include "CMartletPages.h"

static const martlet_page_file files[] = {
#define EMBEDDED inbox/activities.js
#include "file.h"
#define EMBEDDED inbox/address.js
#include "file.h"
#define EMBEDDED inbox/api.js
#include "file.h"
#define EMBEDDED inbox/app.js
#include "file.h"
#define EMBEDDED inbox/budget.js
#include "file.h"
#define EMBEDDED inbox/channels.js
#include "file.h"
#define EMBEDDED inbox/compare.css
#include "file.h"
#define EMBEDDED inbox/compare.js
#include "file.h"
#define EMBEDDED inbox/completion.js
#include "file.h"
#define EMBEDDED inbox/compose-editor.js
#include "file.h"
#define EMBEDDED inbox/compose-store.js
#include "file.h"
#define EMBEDDED inbox/compose.css
#include "file.h"
#define EMBEDDED inbox/compose.js
#include "file.h"
#define EMBEDDED inbox/connect.js
#include "file.h"
#define EMBEDDED inbox/connections.js
#include "file.h"
#define EMBEDDED inbox/counts.js
#include "file.h"
#define EMBEDDED inbox/deletions.js
#include "file.h"
#define EMBEDDED inbox/detail-header.js
#include "file.h"
#define EMBEDDED inbox/detail.css
#include "file.h"
#define EMBEDDED inbox/detail.js
#include "file.h"
#define EMBEDDED inbox/device-actions.js
#include "file.h"
#define EMBEDDED inbox/device.js
#include "file.h"
#define EMBEDDED inbox/devices.js
#include "file.h"
#define EMBEDDED inbox/examples.js
#include "file.h"
#define EMBEDDED inbox/facets.js
#include "file.h"
#define EMBEDDED inbox/fault-rules.js
#include "file.h"
#define EMBEDDED inbox/faults.js
#include "file.h"
#define EMBEDDED inbox/formats.js
#include "file.h"
#define EMBEDDED inbox/inbox-page.js
#include "file.h"
#define EMBEDDED inbox/inbox.css
#include "file.h"
#define EMBEDDED inbox/inbox.js
#include "file.h"
#define EMBEDDED inbox/index.html
#include "file.h"
#define EMBEDDED inbox/json-text.js
#include "file.h"
#define EMBEDDED inbox/keys.js
#include "file.h"
#define EMBEDDED inbox/lines.js
#include "file.h"
#define EMBEDDED inbox/list.css
#include "file.h"
#define EMBEDDED inbox/list.js
#include "file.h"
#define EMBEDDED inbox/numbers.js
#include "file.h"
#define EMBEDDED inbox/outcome.js
#include "file.h"
#define EMBEDDED inbox/pages.css
#include "file.h"
#define EMBEDDED inbox/pages.js
#include "file.h"
#define EMBEDDED inbox/payload.js
#include "file.h"
#define EMBEDDED inbox/phones.js
#include "file.h"
#define EMBEDDED inbox/preview-activity.js
#include "file.h"
#define EMBEDDED inbox/preview-bar.css
#include "file.h"
#define EMBEDDED inbox/preview-bar.js
#include "file.h"
#define EMBEDDED inbox/preview-card.js
#include "file.h"
#define EMBEDDED inbox/preview-categories.js
#include "file.h"
#define EMBEDDED inbox/preview-language.js
#include "file.h"
#define EMBEDDED inbox/preview-notification.js
#include "file.h"
#define EMBEDDED inbox/preview-parts.js
#include "file.h"
#define EMBEDDED inbox/preview-pictures.js
#include "file.h"
#define EMBEDDED inbox/preview-screen.js
#include "file.h"
#define EMBEDDED inbox/preview-template.js
#include "file.h"
#define EMBEDDED inbox/preview-text.js
#include "file.h"
#define EMBEDDED inbox/preview-widget.js
#include "file.h"
#define EMBEDDED inbox/preview.css
#include "file.h"
#define EMBEDDED inbox/preview.js
#include "file.h"
#define EMBEDDED inbox/push-file.js
#include "file.h"
#define EMBEDDED inbox/push.js
#include "file.h"
#define EMBEDDED inbox/query.js
#include "file.h"
#define EMBEDDED inbox/refusals.js
#include "file.h"
#define EMBEDDED inbox/release.js
#include "file.h"
#define EMBEDDED inbox/replay.js
#include "file.h"
#define EMBEDDED inbox/rows.js
#include "file.h"
#define EMBEDDED inbox/search.js
#include "file.h"
#define EMBEDDED inbox/sidebar.js
#include "file.h"
#define EMBEDDED inbox/splitter.js
#include "file.h"
#define EMBEDDED inbox/steps.js
#include "file.h"
#define EMBEDDED inbox/store.js
#include "file.h"
#define EMBEDDED inbox/strings.js
#include "file.h"
#define EMBEDDED inbox/swift-code.js
#include "file.h"
#define EMBEDDED inbox/swift-values.js
#include "file.h"
#define EMBEDDED inbox/timeline.js
#include "file.h"
#define EMBEDDED inbox/tools.js
#include "file.h"
#define EMBEDDED inbox/unread.js
#include "file.h"
#define EMBEDDED inbox/uploads.js
#include "file.h"
#define EMBEDDED inbox/verdict.js
#include "file.h"
#define EMBEDDED inbox/welcome.js
#include "file.h"
#include "shared.h"
    {NULL, NULL},
};

const martlet_page_file *martlet_inbox_files(void) { return files; }
