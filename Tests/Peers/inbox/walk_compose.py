# SPDX-License-Identifier: Apache-2.0

"""The composer: examples, drafts, templates, checks and the preview, and releases to real devices."""

import json
import re
import textwrap
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from inbox_walk import InboxWalk, Simulator, push
from playwright.sync_api import expect

PHONE = "5d3a6a1c8f9a42d6"
ACTIVITY = "ab" * 16
TOKENS = {"example Update activity": ACTIVITY, "example End activity": "cd" * 16, "example Start activity": "ef" * 16}
# The code of each example in Swift, which the build compiles.
COPIES = Path(__file__).parents[2] / "MartletSimulatorTests" / "Copies"
# The payload and the copied code of each example, of which one has no typed form.
COPY = """async () => {
  Date.now = () => 1795593600000
  const [{ examples, topic }, { swift }] = await Promise.all([import("/page/examples.js"), import("/page/swift-code.js")])
  const all = { ...examples, "Without a type": { type: "alert", priority: "10", payload: () => ({ aps: { alert: "Hi" }, note: null }) } }
  return Object.entries(all).map(([name, { type, priority, expiration, isBroadcast, payload, topic: own }]) => {
    const text = JSON.stringify(payload())
    const headers = { "apns-push-type": type, "apns-topic": isBroadcast ? undefined : own ?? topic("com.example.app", type),
      "apns-priority": priority, "apns-expiration": expiration }
    const target = isBroadcast ? { app: "com.example.app", channel: "bm9uZQ==" } : { "device-token": "5d3a6a1c8f9a42d6" }
    return { name, text, code: swift({ ...target, headers }, text) }
  })
}"""


def order(number, **more):
    return push(number, **{"device-token": PHONE, **more})


class ComposeWalk(InboxWalk):
    def setUp(self):
        super().setUp()
        self.dialog = self.page.get_by_role("dialog", name="Compose a push")

    def choose(self, item):
        self.page.locator("#detail").get_by_role("button", name="More actions").click()
        self.page.get_by_role("menuitem", name=item).click()


class Composer(ComposeWalk):
    def compose(self):
        self.page.locator("#list").press("c")
        expect(self.dialog).to_be_visible()

    @property
    def payload(self):
        return self.dialog.get_by_label("Payload", exact=True)

    def test_a_push_is_composed_and_linted(self):
        self.open()
        self.compose()
        dialog, found = self.dialog, self.dialog.locator(".found")
        expect(found).to_have_text("No findings.")
        self.payload.fill('{"aps":{"alert":"Hi","badge":"3"}')
        expect(dialog).to_contain_text("Line 1, column 34: expected a comma or }, but the text ends")
        expect(self.payload).to_have_attribute("aria-invalid", "true")
        text = '{ "aps": {"alert":"Hi","badge":"3"}, "n": 12345678901234567890, "m": 1.50 }'
        self.payload.fill(text)
        found.get_by_role("button", name="payload/aps/badge").click()
        expect(self.payload).to_be_focused()
        selected = "field => field.value.slice(field.selectionStart, field.selectionEnd)"
        self.assertEqual(self.evaluated(self.payload, selected), '"3"')
        dialog.get_by_label("Device token").fill(PHONE)
        self.payload.press("Control+Enter")
        expect(dialog.locator(".result")).to_contain_text("200push 1")
        raw = urllib.request.urlopen(self.simulator.url + "/api/v1/pushes/1/payload").read().decode()
        self.assertEqual(raw, text)
        dialog.get_by_label("Push type").select_option("background")
        dialog.get_by_role("button", name="Send").click()
        expect(dialog.locator(".result")).to_contain_text("400 BadPriority")
        expect(dialog.locator(".of-priority [role=alert]")).to_contain_text(re.compile("priority", re.IGNORECASE))
        dialog.get_by_label("Start from").select_option("Broadcast")
        expect(dialog.get_by_label("Device token")).to_be_hidden()
        dialog.get_by_label("Channel").fill("bm9uZQ==")
        dialog.get_by_role("button", name="Send").click()
        expect(dialog.locator(".result")).to_contain_text("ChannelNotRegistered")
        expect(dialog.get_by_label("Channel")).to_have_attribute("aria-invalid", "true")
        dialog.locator(".result a").click()
        expect(self.page.locator("#detail h2")).to_have_text("The kitchen is busy")

    def test_every_example_is_accepted_without_errors(self):
        channel = self.simulator.ask("POST", "/api/v1/channels", {"app": "com.example.app", "message-storage-policy": 0})["channel"]
        self.open()
        self.compose()
        choice = self.dialog.get_by_label("Start from")
        names = self.evaluated(choice, "list => [...list.options].map(option => option.value).filter(Boolean)")
        types = set()
        for number, name in enumerate(names, 1):
            choice.select_option(name)
            if name == "example Broadcast":
                self.dialog.get_by_label("Channel").fill(channel)
            else:
                # A phone ignores updates to the token that starts activities, and two with the same timestamp.
                self.dialog.get_by_label("Device token").fill(TOKENS.get(name, PHONE))
            self.dialog.get_by_role("button", name="Send").click()
            expect(self.dialog.locator(".result")).to_contain_text(f"push {number}")
            sent = self.simulator.ask("GET", f"/api/v1/pushes/{number}")
            self.assertEqual(sent["status"], 200, name)
            self.assertEqual([each for each in sent["findings"] if each["severity"] == "error"], [], name)
            types.add(sent["headers"]["apns-push-type"])
        known = self.evaluated(self.dialog.get_by_label("Push type"), "list => [...list.options].map(option => option.value).filter(Boolean)")
        self.assertEqual(set(known) - types, {"accessory"})

    def test_a_draft_is_kept_until_it_is_discarded(self):
        self.open(order(1))
        self.compose()
        self.payload.fill('{"aps":{"alert":"Draft"}}')
        self.payload.press("Escape")
        expect(self.dialog).to_be_visible()
        self.page.keyboard.press("Escape")
        expect(self.dialog).to_be_hidden()
        self.compose()
        expect(self.payload).to_have_value('{"aps":{"alert":"Draft"}}')
        self.page.reload()
        self.compose()
        expect(self.payload).to_have_value('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Close").click()
        # Editing a received push leaves the draft of a new one alone.
        self.rows().first.click()
        self.choose("Edit and replay")
        self.payload.fill('{"aps":{"alert":"Edited"}}')
        self.dialog.get_by_role("button", name="Close").click()
        self.compose()
        expect(self.payload).to_have_value('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Discard draft").click()
        expect(self.payload).not_to_have_value('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Undo").click()
        expect(self.payload).to_have_value('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Discard draft").click()
        self.page.reload()
        self.compose()
        expect(self.payload).to_have_value(re.compile("Order ready"))

    def test_the_destination_of_a_page_wins_over_a_draft(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": ["com.example.app"]})
        self.open()
        self.compose()
        self.dialog.get_by_label("Device token").fill("0123456789abcdef")
        self.payload.fill('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Close").click()
        self.page.goto(f"{self.simulator.url}/#/devices/{PHONE}")
        self.page.get_by_role("button", name="Send a push").click()
        expect(self.dialog.get_by_label("Device token")).to_have_value(PHONE)
        expect(self.dialog.get_by_label("Topic")).to_have_value("com.example.app")
        expect(self.payload).to_have_value(re.compile("Hello"))
        self.dialog.get_by_role("button", name="Restore your draft").click()
        expect(self.dialog.get_by_label("Device token")).to_have_value("0123456789abcdef")
        expect(self.payload).to_have_value('{"aps":{"alert":"Draft"}}')
        self.dialog.get_by_role("button", name="Undo").click()
        expect(self.dialog.get_by_label("Device token")).to_have_value(PHONE)

    def test_an_example_keeps_a_token_of_its_kind_and_replaces_others(self):
        start = "ef" * 16
        self.simulator.ask("POST", "/api/v1/pushes", {
            "device-token": start, "headers": {"apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"},
            "payload": {"aps": {"timestamp": 1_790_000_000, "event": "start", "attributes-type": "A", "attributes": {}, "content-state": {"n": 1},
                                "alert": {"title": "A", "body": "B"}}}})
        started, = self.simulator.ask("GET", f"/api/v1/devices/{start}")["started-activities"]
        self.open(order(2))
        self.compose()
        token, choice = self.dialog.get_by_label("Device token"), self.dialog.get_by_label("Start from")
        token.fill(start)
        for example, expected in [("Start", start), ("Update", started["token"]), ("End", started["token"])]:
            choice.select_option(f"example {example} activity")
            expect(token).to_have_value(expected)
        for example, own in [("Alert", started["token"]), ("Passive", start), ("Silent", PHONE)]:
            token.fill(own)
            choice.select_option(f"example {example}")
            expect(token).to_have_value(PHONE)

    def test_an_expiration_is_chosen_and_findings_are_counted_beside_send(self):
        self.open(order(1))
        self.compose()
        self.dialog.get_by_label("Expires").select_option("in one hour")
        expect(self.dialog.get_by_label("Expiration")).to_have_value(re.compile("^1[0-9]{9}$"))
        expect(self.dialog.get_by_label("Expires")).to_have_value("other")
        width = lambda label: self.box(self.dialog.get_by_label(label))["width"]
        self.assertGreater(min(width("Expiration"), width("Expires")), 180, "their texts are not cut")
        self.dialog.get_by_label("Expires").select_option("one attempt")
        expect(self.dialog.get_by_label("Expiration")).to_have_value("0")
        count = self.dialog.locator(".composer-end .chip")
        expect(count).to_be_hidden()
        self.payload.fill('{"aps":{"alert":"Hi","badge":"5"}}')
        expect(count).to_have_text("1 error")

    def test_a_composed_alert_goes_to_a_token_of_alerts(self):
        control = {"apns-push-type": "controls", "apns-topic": "com.example.app.push-type.controls"}
        self.open(order(1), push(2, **{"device-token": "c0" * 16, "headers": control, "payload": {"aps": {"content-changed": True}}}))
        self.compose()
        token = self.dialog.get_by_label("Device token")
        expect(token).to_have_value(PHONE)
        self.dialog.get_by_label("Start from").select_option("example Control")
        expect(token).to_have_value("c0" * 16)
        self.dialog.get_by_label("Start from").select_option("example Alert")
        expect(token).to_have_value(PHONE)

    def test_a_broadcast_has_the_expiration_that_its_channel_accepts(self):
        self.open()
        for policy in (0, 1):
            channel = self.simulator.ask("POST", "/api/v1/channels", {"app": "com.example.app", "message-storage-policy": policy})["channel"]
            self.page.goto(f"{self.simulator.url}/#/channels/com.example.app/{urllib.parse.quote(channel, safe='')}")
            self.page.get_by_role("button", name="Send a broadcast").click()
            expect(self.dialog.get_by_label("Expiration")).to_have_value("0" if policy == 0 else re.compile("^1[0-9]{9}$"))
            expect(self.dialog.get_by_label("Channel")).to_have_value(channel)
            self.dialog.get_by_role("button", name="Send", exact=True).click()
            expect(self.dialog.locator(".result")).to_contain_text(f"push {policy + 1}")
            self.dialog.get_by_role("button", name="Close").click()

    def test_findings_at_fields_are_counted_and_an_alert_is_not_for_an_activity(self):
        self.open(order(1), push(2, **{"device-token": ACTIVITY, "headers": {
            "apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"}}))
        self.compose()
        expect(self.dialog.get_by_label("Device token")).to_have_value(PHONE)
        found = self.dialog.locator(".found")
        expect(found).to_have_text("No findings.")
        self.dialog.get_by_label("Expiration").fill("soon")
        expect(found).to_have_text("1 finding at its field above.")
        self.payload.fill(json.dumps({"aps": {"alert": "x" * 5000}}))
        expect(self.dialog.locator(".size")).to_contain_text("too many")
        expect(self.dialog.locator(".size")).to_have_attribute("data-tone", "bad")

    def test_templates_are_saved_and_deleted(self):
        self.open()
        self.compose()
        self.payload.fill('{"aps":{"alert":"Mine"}}')
        self.dialog.get_by_role("button", name="Save as template").click()
        self.dialog.get_by_label("Name of the template").fill("Lunch")
        self.page.keyboard.press("Enter")
        expect(self.dialog.get_by_role("option", name="Lunch")).to_have_count(1)
        self.page.reload()
        self.compose()
        self.dialog.get_by_label("Start from").select_option("Call")
        expect(self.payload).to_have_value(re.compile("Ada"))
        self.dialog.get_by_label("Start from").select_option("Lunch")
        expect(self.payload).to_have_value('{"aps":{"alert":"Mine"}}')
        expect(self.dialog.get_by_label("Push type")).to_have_value("alert")
        self.dialog.get_by_role("button", name="Delete template").click()
        expect(self.dialog.get_by_role("option", name="Lunch")).to_have_count(0)
        self.dialog.get_by_role("button", name="Undo: keep Lunch").click()
        expect(self.dialog.get_by_role("option", name="Lunch")).to_have_count(1)
        expect(self.dialog.get_by_label("Start from")).to_have_value("template Lunch")

    def test_the_editor_indents_formats_and_selects_mistakes(self):
        self.open()
        self.compose()
        self.payload.fill('{"aps":{},"n":12345678901234567890}')
        self.dialog.get_by_role("button", name="Format").click()
        expect(self.payload).to_have_value('{\n  "aps": {},\n  "n": 12345678901234567890\n}')
        self.payload.press("Control+a")
        self.page.keyboard.press("Tab")
        expect(self.payload).to_have_value('  {\n    "aps": {},\n    "n": 12345678901234567890\n  }')
        self.page.keyboard.press("Shift+Tab")
        expect(self.payload).to_have_value('{\n  "aps": {},\n  "n": 12345678901234567890\n}')
        self.page.keyboard.press("Control+z")
        expect(self.payload).to_have_value(re.compile("^  {"))
        self.payload.fill("")
        self.page.keyboard.type('{')
        self.page.keyboard.press("Enter")
        self.page.keyboard.type('"a": tru')
        self.dialog.get_by_role("button", name="Line 2, column 8: expected a value").click()
        expect(self.payload).to_be_focused()
        self.assertEqual(self.evaluated(self.payload, "field => field.selectionStart"), 9)

    def test_the_preview_follows_the_form_and_paired_fields_are_equally_high(self):
        self.open()
        self.compose()
        preview = self.dialog.get_by_role("region", name="Preview")
        expect(preview).to_contain_text("Order ready")
        self.payload.fill('{"aps":{"alert":{"title":"Changed","body":"b"}}}')
        expect(preview).to_contain_text("Changed")
        self.dialog.get_by_label("Push type").select_option("voip")
        expect(preview).to_contain_text("No preview: only the app receives this push.")
        heights = self.dialog.locator(".composer-grid :is(input, select):visible").evaluate_all("list => list.map(each => each.getBoundingClientRect().height)")
        self.assertEqual(len(set(heights)), 1, heights)
        self.assertFalse([request.url for request in self.requests if "undefined" in request.url])

    def test_a_push_is_edited_and_replayed(self):
        one = order(1)
        one["headers"] |= {"apns-collapse-id": "c", "apns-priority": "7", "apns-id": "x"}
        self.open(one)
        self.rows().first.click()
        self.choose("Edit and replay")
        dialog = self.dialog
        expect(dialog.get_by_label("Device token")).to_have_value(PHONE)
        expect(dialog.get_by_label("Priority")).to_have_value("7")
        expect(dialog.get_by_label("Payload")).to_have_value(json.dumps(one["payload"], separators=(",", ":")))
        dialog.get_by_role("button", name="Close").click()
        self.choose("Edit and replay")
        dialog.get_by_label("Priority").select_option("5")
        dialog.get_by_label("Payload").press("Control+Enter")
        expect(dialog.locator(".result")).to_contain_text("push 2")
        sent = self.simulator.ask("GET", "/api/v1/pushes/2")
        self.assertEqual(sent["headers"], {
            "apns-push-type": "alert", "apns-priority": "5", "apns-topic": "com.example.app", "apns-collapse-id": "c"})
        self.assertEqual(sent["payload"], one["payload"])


class CopiedSwift(ComposeWalk):
    def test_copied_swift_is_what_the_build_compiles(self):
        source = "".join(file.read_text() for file in COPIES.glob("CopiedSwift+*.swift"))
        compiled = {name: textwrap.dedent(code).strip() for name, code in re.findall(r"        // Example: ([^\n]*)\n(.*?)\n    }\n", source, re.DOTALL)}
        payloads = {}
        for name, text in re.findall(r'CopiedSwift\(\n +"(.*?)",\n +payload:(.*?),\n +copied:', source, re.DOTALL):
            payloads[name] = "".join(re.findall(r'#"(.*)"#', text))
        self.open()
        copies = self.page.evaluate(COPY)
        self.assertGreater(len(copies), 20)
        for copy in copies:
            self.assertEqual(copy["code"], compiled.get(copy["name"]), copy["name"])
            self.assertEqual(copy["text"], payloads.get(copy["name"]), copy["name"])
        self.assertEqual(len(copies), len(compiled))

    def test_a_push_is_copied_as_swift(self):
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.open(order(1))
        self.rows().first.click()
        self.page.locator("#detail").get_by_role("button", name="Copy", exact=True).click()
        copied = self.copied_by(self.page.get_by_role("menuitem", name="Copy as Swift").click)
        expect(self.page.locator(".toast")).to_contain_text("Copied as Swift")
        self.assertIn('PushNotification.Alert(title: "Order 1", body: "Tap to open it.")', copied)


class Releases(ComposeWalk):
    def test_a_push_is_released_if_allowed(self):
        self.allow_errors("net::ERR")
        self.open(order(1), push(2))
        self.rows().last.click()
        more = self.page.locator("#detail").get_by_role("button", name="More actions")
        more.click()
        expect(self.page.get_by_role("menuitem", name="Edit and replay")).to_be_visible()
        expect(self.page.get_by_role("menuitem", name="Release to a real device")).to_have_count(0)
        real = Simulator()
        self.addCleanup(real.stop)
        self.page.goto("about:blank")
        self.simulator.stop()
        self.simulator = Simulator(None, "--allow-release", "--release-to", PHONE.upper(), "--release-host", real.apns)
        self.open(order(1), push(2))
        dialog = self.page.get_by_role("dialog", name="Send this push to a real device?")
        self.rows().first.click()
        self.choose("Release to a real device")
        expect(dialog).to_contain_text("not among those of --release-to")
        expect(dialog.get_by_role("button", name="Send")).to_be_disabled()
        dialog.get_by_role("button", name="Close").click()
        self.rows().last.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.choose("Release to a real device")
        expect(dialog).to_contain_text(PHONE)
        expect(dialog).to_contain_text(re.sub("^http://", "", real.apns))
        expect(dialog.locator("strong")).to_have_text("development")
        self.assertEqual(real.ask("GET", "/api/v1/pushes")["total"], 0)
        dialog.get_by_role("button", name="Send").click()
        expect(dialog.locator(".result")).to_have_text("200 ")
        received = real.ask("GET", "/api/v1/pushes")["pushes"]
        self.assertEqual([(one["device-token"], one["payload"]["aps"]["alert"]["title"]) for one in received], [(PHONE, "Order 1")])


if __name__ == "__main__":
    unittest.main()
