# SPDX-License-Identifier: Apache-2.0

"""The accessibility of every page: the rules of axe, contrast, names of controls, and the layout on a narrow screen."""

import unittest

from accessibility import assert_accessible, assert_contrast
from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

ACTIVITY = "ab" * 16
PAGES = ["activities", "devices", "channels", "connections", "faults", "connect"]
ADDRESSES = ["", "push/1", f"activities/{ACTIVITY}", *PAGES]
CONTROLS = {
    "button", "link", "textbox", "searchbox", "combobox", "checkbox", "slider", "tab", "option", "spinbutton",
    "DisclosureTriangle", "listbox", "dialog", "image",
}


class Accessibility(InboxWalk):
    def setUp(self):
        super().setUp()
        ask = self.simulator.ask
        self.simulator.import_pushes(push(1), push(2, status=400, reason="BadDeviceToken"))
        ask("PUT", "/api/v1/devices/5d3a6a1c8f9a42d6", {"topics": ["com.example.app"], "online": False})
        ask("PUT", "/api/v1/devices/5d3a6a1c8f9a42d7", {"topics": ["com.example.app"], "unregistered-at": 1790000000000})
        ask("POST", "/api/v1/channels", {"app": "com.example.app", "message-storage-policy": 1})
        ask("PUT", "/api/v1/chaos", {"presets": ["slow"]})
        headers = {"apns-topic": "com.example.app.push-type.liveactivity", "apns-push-type": "liveactivity"}
        for timestamp in [100, 200, 150]:
            payload = {"aps": {"event": "update", "timestamp": timestamp, "content-state": {"stage": str(timestamp)}}}
            ask("POST", "/api/v1/pushes", {"device-token": ACTIVITY, "headers": headers, "payload": payload})
        self.open()

    def visit(self):
        for address in ADDRESSES:
            self.page.goto(f"{self.simulator.url}/#/{address}")
            expect(self.page.locator("main:not([hidden])")).to_be_visible()
            if address in PAGES:
                expect(self.page.locator("#page h2").first).to_have_text(address.capitalize())
            wanted = {"": ".row", "push/1": "#detail h2", "connections": "#page .empty", "connect": "pre"}
            wanted[f"activities/{ACTIVITY}"] = ".step-mark"
            expect(self.page.locator(wanted.get(address, "#page .table, #page .preset")).first).to_be_visible()
            yield address

    def test_axe_has_no_findings_in_light_and_dark_mode(self):
        for scheme in ["light", "dark"]:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for address in self.visit():
                assert_accessible(self, f"{scheme} {address}")

    def test_text_has_contrast_in_light_and_dark_mode(self):
        for scheme in ["light", "dark"]:
            # A colour that is still changing has no contrast of its own.
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for address in self.visit():
                assert_contrast(self, f"{scheme} {address}")

    def test_every_control_has_a_name(self):
        session = self.context.new_cdp_session(self.page)
        for address in self.visit():
            nodes = session.send("Accessibility.getFullAXTree")["nodes"]
            seen = [node for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROLS]
            unnamed = [node["role"]["value"] for node in seen if not node.get("name", {}).get("value", "").strip()]
            self.assertGreater(len(seen), 8)
            self.assertEqual(unnamed, [], address)

    def test_every_page_fits_a_narrow_screen(self):
        self.page.set_viewport_size({"width": 390, "height": 800})
        for address in self.visit():
            widths = self.page.evaluate(
                "[document.documentElement, ...document.querySelectorAll('main:not([hidden])')].map((e) => e.scrollWidth)")
            self.assertLessEqual(max(widths), 390, address)


if __name__ == "__main__":
    unittest.main()
