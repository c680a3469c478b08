# SPDX-License-Identifier: Apache-2.0

"""Addresses of pushes, the rows of the list, the layout on wide and narrow screens, and the empty inbox."""

import re
import unittest

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

IDENTIFIER = "9A8E0F6C-1B2C-4D3E-8F90-123456789ABC"


class Places(InboxWalk):
    def expect_hash(self, hash):
        self.wait_until(lambda: self.page.evaluate("location.hash") == hash, f"the address has not become {hash}")

    def test_a_push_has_addresses_by_number_and_by_apns_id(self):
        self.simulator.import_pushes(push(1), push(2, **{"apns-id": IDENTIFIER}), push(3))
        for name in ["2", IDENTIFIER, IDENTIFIER.lower()]:
            self.page.goto("about:blank")
            self.page.goto(f"{self.simulator.url}/#/push/{name}")
            expect(self.page.locator("#detail h2")).to_have_text("Order 2")
            self.expect_hash(f"#/push/{name}")
        # The push may be shown before the list, and the key moves in the list.
        expect(self.rows()).to_have_count(3)
        self.page.keyboard.press("j")
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.expect_hash("#/push/1")

    def test_the_address_of_a_missing_push_stays_with_a_message(self):
        self.simulator.import_pushes(push(1), push(2))
        self.simulator.ask("DELETE", "/api/v1/pushes/1")
        texts = {"1": "Push 1 is no longer stored.", "421": "Push 421 has not been received.",
                 IDENTIFIER: f"No stored push has the apns-id {IDENTIFIER}."}
        for name, text in texts.items():
            self.page.goto("about:blank")
            self.page.goto(f"{self.simulator.url}/#/push/{name}")
            expect(self.page.locator("#detail")).to_contain_text(text)
            expect(self.rows()).to_have_count(1)
            self.expect_hash(f"#/push/{name}")
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")

    def test_a_push_that_is_deleted_elsewhere_stays_until_it_is_left(self):
        self.open(push(1), push(2), push(3))
        self.page.locator("#push-2").click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        # The preview is complete, so that it requests nothing more.
        expect(self.page.locator("#detail .panel [aria-busy=false]").first).to_be_visible()
        self.simulator.ask("DELETE", "/api/v1/pushes/2")
        expect(self.page.locator("#pane-notice")).to_contain_text("Push 2 is no longer stored")
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.rows()).to_have_count(2)
        self.expect_hash("#/push/2")
        self.page.locator("#push-1").click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        expect(self.page.locator("#pane-notice")).to_have_text("")

    def test_pushes_are_loaded_once(self):
        self.open(*[push(number) for number in range(1, 1501)])
        expect(self.page.locator("#tools .shown")).to_have_text("1,500 pushes")
        lists = [request.url for request in self.requests if "/api/v1/pushes?" in request.url]
        self.assertEqual(len(lists), len(set(lists)))
        loaded = sum(int(url.split("limit=")[1].split("&")[0]) for url in lists)
        self.assertLess(loaded, 2500, lists)

    def test_rows_and_chips_have_fixed_sizes(self):
        finding = push(2, **{"tags": ["checkout"]})
        finding["payload"]["aps"]["badge"] = "3"
        self.open(push(1, status=410, reason="Unregistered"), finding, push(3, connection=0))
        expect(self.rows()).to_have_count(3)
        heights = self.page.eval_on_selector_all(".row", "rows => rows.map(row => row.offsetHeight)")
        self.assertEqual(heights, [52, 52, 52])
        chips = self.page.eval_on_selector_all(".row .chip", """chips => chips.map(chip => {
          const range = document.createRange()
          range.selectNodeContents(chip)
          return Math.round(chip.offsetWidth - range.getBoundingClientRect().width)
        })""")
        self.assertTrue(chips and all(space <= 14 for space in chips), chips)
        self.assertEqual(self.box(self.page.locator("#push-2 .severity"))["width"], 8)
        expect(self.page.locator("#push-1 .result")).to_have_text("410 Unregistered")
        expect(self.page.locator("#push-1")).to_have_attribute(
            "aria-label", "Order 1, Tap to open it., Alert, com.example.app, 00000001, refused Unregistered")
        expect(self.page.locator("#push-2")).to_have_attribute("aria-label", re.compile("errors found"))
        expect(self.page.locator("#push-1")).to_have_attribute("aria-setsize", "3")

    def test_the_second_line_has_details_and_chips_do_not_cut_the_title(self):
        state = {"aps": {"event": "update", "timestamp": 1, "content-state": {"status": "On its way"}}}
        headers = {"apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"}
        older = push(3, payload=state, headers=headers)
        title = "A rather long title that needs all of its line"
        refused = push(3, payload={"aps": {"alert": {"title": title}}}, status=410, reason="ExpiredProviderTokenWithALongName", connection=0,
                       tags=["release-candidate", "customers"])
        self.open(push(1), push(2, payload=state, headers=headers), refused,
                  push(4, headers={"apns-push-type": "pushtotalk"}, payload={"speaker": "Ada"}))
        text = lambda number: self.page.locator(f"#push-{number} .app")
        expect(text(1)).to_have_text("00000001 · Tap to open it. · com.example.app")
        expect(self.page.locator("#push-2 .headline")).to_have_text("On its way")
        expect(text(2)).to_contain_text(" · update · ")
        expect(self.page.locator("#push-4 .headline")).to_have_text("Push to Talk push")
        expect(self.page.locator(".composed")).to_have_count(0)
        for width in (1280, 1024, 390):
            self.page.set_viewport_size({"width": width, "height": 800})
            height, row, line, headline, badges = self.evaluated(self.page.locator("#push-3"), """row => {
              const parts = [row, ...[".first-line", ".headline", ".badges"].map((part) => row.querySelector(part))]
              return [row.offsetHeight, ...parts.map((part) => part.getBoundingClientRect().width)]
            }""")
            self.assertEqual(height, 52)
            self.assertGreaterEqual(headline, 0.6 * line, width)
            self.assertLessEqual(badges, 0.4 * row + 1, width)

    def test_a_finding_about_the_client_does_not_colour_a_row(self):
        self.simulator.import_pushes(push(1))
        stored = self.simulator.ask("GET", "/api/v1/pushes")
        finding = {"rule": "connection-per-push", "severity": "warning", "place": "connection", "message": "", "page": ""}
        stored["pushes"][0]["findings"] = [finding]
        self.page.route("**/api/v1/pushes?*", lambda route: route.fulfill(json=stored))
        self.open()
        expect(self.rows()).to_have_count(1)
        expect(self.page.locator(".row .severity")).to_have_count(0)
        expect(self.page.locator("#filters").get_by_role("button", name="connection-per-push")).to_be_visible()

    def test_a_narrow_screen_has_a_way_back(self):
        self.page.route("**/api/v1/query", lambda route: route.fulfill(json={"fields": []}))
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.open(push(1), push(2))
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.page.locator("#list")).to_be_hidden()
        self.page.get_by_role("button", name="Back to the list").click()
        expect(self.page.locator("#list")).to_be_visible()
        expect(self.page.locator("#detail")).to_be_hidden()
        self.rows().last.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.page.go_back()
        expect(self.page.locator("#list")).to_be_visible()
        self.expect_hash("")
        self.page.get_by_role("button", name="Filters").click()
        filters = self.page.get_by_role("navigation", name="Filters")
        filters.get_by_role("button", name="Refused", exact=True).click()
        filters.get_by_role("button", name="Done").click()
        expect(filters).to_be_hidden()
        expect(self.rows()).to_have_count(0)

    def test_the_width_of_the_list_is_changed_and_stored(self):
        self.open(push(1))
        handle = self.page.get_by_role("separator", name="Width of the list")
        width = self.box(self.page.locator("#list"))["width"]
        handle.focus()
        self.page.keyboard.press("ArrowRight")
        self.expect_width(width + 24)
        box = self.box(handle)
        self.page.mouse.move(box["x"], box["y"] + 100)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + 40, box["y"] + 100)
        self.page.mouse.up()
        # The width is stored when the pointer is released, in an event of its own.
        self.wait_until(lambda: self.page.evaluate("localStorage['martlet.list-width']") == str(round(width + 64)))
        self.page.reload()
        expect(self.rows()).to_have_count(1)
        self.expect_width(width + 64)

    def expect_width(self, width):
        self.wait_until(lambda: self.box(self.page.locator("#list"))["width"] == width, f"the list is not {width} pixels wide")

    def test_the_empty_inbox_shows_clients_and_sends_a_test_push(self):
        self.open()
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        welcome = self.page.get_by_role("region", name="First steps")
        expect(welcome.get_by_role("tab")).to_have_text(["curl", "Martlet for Swift", "Node.js"])
        welcome.get_by_role("tab", name="curl").press("ArrowRight")
        expect(welcome.get_by_role("tab", name="Martlet for Swift")).to_be_focused()
        expect(welcome.locator("pre")).to_contain_text("PushClient(")
        self.assertIn("PushClient(", self.copied_by(welcome.get_by_role("button", name="Copy").click))
        welcome.get_by_role("button", name="Send a test push").click()
        expect(self.rows()).to_have_count(1)
        expect(welcome).to_be_hidden()


if __name__ == "__main__":
    unittest.main()
