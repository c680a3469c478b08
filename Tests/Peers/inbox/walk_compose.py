# SPDX-License-Identifier: Apache-2.0

"""The composer: examples, drafts, templates, checks and the preview, and releases to real devices."""

import json
import re
import unittest

from inbox_walk import InboxWalk, Simulator, push
from playwright.sync_api import expect

PHONE = "5d3a6a1c8f9a42d6"


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
        self.assertEqual(self.errors, [])


class Releases(ComposeWalk):
    def test_a_push_is_released_if_allowed(self):
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
        self.simulator = Simulator(0, "--allow-release", "--release-to", PHONE.upper(), "--release-host", real.apns)
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
        self.assertEqual(self.errors, [])


if __name__ == "__main__":
    unittest.main()
