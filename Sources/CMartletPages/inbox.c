// SPDX-License-Identifier: Apache-2.0

#include "shared.h"

static const unsigned char index_html[] = {
#embed "inbox/index.html"
};
static const unsigned char activities_js[] = {
#embed "inbox/activities.js"
};
static const unsigned char address_js[] = {
#embed "inbox/address.js"
};
static const unsigned char api_js[] = {
#embed "inbox/api.js"
};
static const unsigned char app_js[] = {
#embed "inbox/app.js"
};
static const unsigned char budget_js[] = {
#embed "inbox/budget.js"
};
static const unsigned char channels_js[] = {
#embed "inbox/channels.js"
};
static const unsigned char compare_css[] = {
#embed "inbox/compare.css"
};
static const unsigned char compare_js[] = {
#embed "inbox/compare.js"
};
static const unsigned char compose_css[] = {
#embed "inbox/compose.css"
};
static const unsigned char completion_js[] = {
#embed "inbox/completion.js"
};
static const unsigned char compose_js[] = {
#embed "inbox/compose.js"
};
static const unsigned char compose_editor_js[] = {
#embed "inbox/compose-editor.js"
};
static const unsigned char compose_store_js[] = {
#embed "inbox/compose-store.js"
};
static const unsigned char connect_js[] = {
#embed "inbox/connect.js"
};
static const unsigned char connections_js[] = {
#embed "inbox/connections.js"
};
static const unsigned char detail_header_js[] = {
#embed "inbox/detail-header.js"
};
static const unsigned char detail_css[] = {
#embed "inbox/detail.css"
};
static const unsigned char counts_js[] = {
#embed "inbox/counts.js"
};
static const unsigned char deletions_js[] = {
#embed "inbox/deletions.js"
};
static const unsigned char detail_js[] = {
#embed "inbox/detail.js"
};
static const unsigned char device_js[] = {
#embed "inbox/device.js"
};
static const unsigned char device_actions_js[] = {
#embed "inbox/device-actions.js"
};
static const unsigned char devices_js[] = {
#embed "inbox/devices.js"
};
static const unsigned char examples_js[] = {
#embed "inbox/examples.js"
};
static const unsigned char fault_rules_js[] = {
#embed "inbox/fault-rules.js"
};
static const unsigned char faults_js[] = {
#embed "inbox/faults.js"
};
static const unsigned char formats_js[] = {
#embed "inbox/formats.js"
};
static const unsigned char inbox_css[] = {
#embed "inbox/inbox.css"
};
static const unsigned char inbox_js[] = {
#embed "inbox/inbox.js"
};
static const unsigned char inbox_page_js[] = {
#embed "inbox/inbox-page.js"
};
static const unsigned char json_text_js[] = {
#embed "inbox/json-text.js"
};
static const unsigned char keys_js[] = {
#embed "inbox/keys.js"
};
static const unsigned char lines_js[] = {
#embed "inbox/lines.js"
};
static const unsigned char list_css[] = {
#embed "inbox/list.css"
};
static const unsigned char list_js[] = {
#embed "inbox/list.js"
};
static const unsigned char numbers_js[] = {
#embed "inbox/numbers.js"
};
static const unsigned char outcome_js[] = {
#embed "inbox/outcome.js"
};
static const unsigned char pages_css[] = {
#embed "inbox/pages.css"
};
static const unsigned char pages_js[] = {
#embed "inbox/pages.js"
};
static const unsigned char payload_js[] = {
#embed "inbox/payload.js"
};
static const unsigned char preview_activity_js[] = {
#embed "inbox/preview-activity.js"
};
static const unsigned char preview_bar_css[] = {
#embed "inbox/preview-bar.css"
};
static const unsigned char preview_bar_js[] = {
#embed "inbox/preview-bar.js"
};
static const unsigned char preview_card_js[] = {
#embed "inbox/preview-card.js"
};
static const unsigned char preview_categories_js[] = {
#embed "inbox/preview-categories.js"
};
static const unsigned char preview_css[] = {
#embed "inbox/preview.css"
};
static const unsigned char preview_language_js[] = {
#embed "inbox/preview-language.js"
};
static const unsigned char preview_notification_js[] = {
#embed "inbox/preview-notification.js"
};
static const unsigned char preview_js[] = {
#embed "inbox/preview.js"
};
static const unsigned char preview_parts_js[] = {
#embed "inbox/preview-parts.js"
};
static const unsigned char preview_pictures_js[] = {
#embed "inbox/preview-pictures.js"
};
static const unsigned char preview_screen_js[] = {
#embed "inbox/preview-screen.js"
};
static const unsigned char preview_template_js[] = {
#embed "inbox/preview-template.js"
};
static const unsigned char preview_text_js[] = {
#embed "inbox/preview-text.js"
};
static const unsigned char preview_widget_js[] = {
#embed "inbox/preview-widget.js"
};
static const unsigned char push_file_js[] = {
#embed "inbox/push-file.js"
};
static const unsigned char push_js[] = {
#embed "inbox/push.js"
};
static const unsigned char query_js[] = {
#embed "inbox/query.js"
};
static const unsigned char refusals_js[] = {
#embed "inbox/refusals.js"
};
static const unsigned char release_js[] = {
#embed "inbox/release.js"
};
static const unsigned char replay_js[] = {
#embed "inbox/replay.js"
};
static const unsigned char rows_js[] = {
#embed "inbox/rows.js"
};
static const unsigned char search_js[] = {
#embed "inbox/search.js"
};
static const unsigned char sidebar_js[] = {
#embed "inbox/sidebar.js"
};
static const unsigned char splitter_js[] = {
#embed "inbox/splitter.js"
};
static const unsigned char steps_js[] = {
#embed "inbox/steps.js"
};
static const unsigned char store_js[] = {
#embed "inbox/store.js"
};
static const unsigned char strings_js[] = {
#embed "inbox/strings.js"
};
static const unsigned char swift_code_js[] = {
#embed "inbox/swift-code.js"
};
static const unsigned char swift_values_js[] = {
#embed "inbox/swift-values.js"
};
static const unsigned char timeline_js[] = {
#embed "inbox/timeline.js"
};
static const unsigned char tools_js[] = {
#embed "inbox/tools.js"
};
static const unsigned char unread_js[] = {
#embed "inbox/unread.js"
};
static const unsigned char verdict_js[] = {
#embed "inbox/verdict.js"
};
static const unsigned char uploads_js[] = {
#embed "inbox/uploads.js"
};
static const unsigned char welcome_js[] = {
#embed "inbox/welcome.js"
};

static const martlet_page_file files[] = {
    FILE_AT("/", "text/html; charset=utf-8", index_html),
    SHARED_FILES,
    STYLE("compare", compare),
    STYLE("compose", compose),
    STYLE("detail", detail),
    STYLE("inbox", inbox),
    STYLE("list", list),
    STYLE("pages", pages),
    STYLE("preview-bar", preview_bar),
    STYLE("preview", preview),
    SCRIPT("activities", activities),
    SCRIPT("address", address),
    SCRIPT("api", api),
    SCRIPT("app", app),
    SCRIPT("budget", budget),
    SCRIPT("channels", channels),
    SCRIPT("compare", compare),
    SCRIPT("completion", completion),
    SCRIPT("compose", compose),
    SCRIPT("compose-editor", compose_editor),
    SCRIPT("compose-store", compose_store),
    SCRIPT("connect", connect),
    SCRIPT("connections", connections),
    SCRIPT("counts", counts),
    SCRIPT("deletions", deletions),
    SCRIPT("detail", detail),
    SCRIPT("detail-header", detail_header),
    SCRIPT("device", device),
    SCRIPT("device-actions", device_actions),
    SCRIPT("devices", devices),
    SCRIPT("examples", examples),
    SCRIPT("fault-rules", fault_rules),
    SCRIPT("faults", faults),
    SCRIPT("formats", formats),
    SCRIPT("inbox-page", inbox_page),
    SCRIPT("inbox", inbox),
    SCRIPT("json-text", json_text),
    SCRIPT("keys", keys),
    SCRIPT("lines", lines),
    SCRIPT("list", list),
    SCRIPT("numbers", numbers),
    SCRIPT("outcome", outcome),
    SCRIPT("pages", pages),
    SCRIPT("payload", payload),
    SCRIPT("preview-activity", preview_activity),
    SCRIPT("preview-bar", preview_bar),
    SCRIPT("preview-card", preview_card),
    SCRIPT("preview-categories", preview_categories),
    SCRIPT("preview-language", preview_language),
    SCRIPT("preview-notification", preview_notification),
    SCRIPT("preview-parts", preview_parts),
    SCRIPT("preview-pictures", preview_pictures),
    SCRIPT("preview-screen", preview_screen),
    SCRIPT("preview-template", preview_template),
    SCRIPT("preview-text", preview_text),
    SCRIPT("preview-widget", preview_widget),
    SCRIPT("preview", preview),
    SCRIPT("push", push),
    SCRIPT("push-file", push_file),
    SCRIPT("query", query),
    SCRIPT("refusals", refusals),
    SCRIPT("release", release),
    SCRIPT("replay", replay),
    SCRIPT("rows", rows),
    SCRIPT("search", search),
    SCRIPT("sidebar", sidebar),
    SCRIPT("splitter", splitter),
    SCRIPT("steps", steps),
    SCRIPT("store", store),
    SCRIPT("strings", strings),
    SCRIPT("swift-code", swift_code),
    SCRIPT("swift-values", swift_values),
    SCRIPT("timeline", timeline),
    SCRIPT("tools", tools),
    SCRIPT("unread", unread),
    SCRIPT("verdict", verdict),
    SCRIPT("uploads", uploads),
    SCRIPT("welcome", welcome),
};

martlet_page_file martlet_inbox_file_at(size_t index) {
    static const martlet_page_file none = {NULL, NULL, NULL, 0};
    return index < sizeof files / sizeof files[0] ? files[index] : none;
}
