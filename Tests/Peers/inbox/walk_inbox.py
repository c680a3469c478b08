# SPDX-License-Identifier: Apache-2.0

"""The list of pushes and the details of one push."""

import gzip
import re
import unittest

from inbox_walk import HOSTILE, InboxWalk, Simulator, push
from playwright.sync_api import expect


class InboxPage(InboxWalk):
    def test_stored_and_arriving_pushes_are_listed(self):
        self.open(push(1), push(2))
        expect(self.rows()).to_have_count(2)
        expect(self.rows().first.locator(".headline")).to_have_text("Order 2")
        self.simulator.import_pushes(push(3))
        expect(self.rows().first.locator(".headline")).to_have_text("Order 3")
        expect(self.page).to_have_title("(1) Martlet inbox")
        self.rows().first.click()
        expect(self.page).to_have_title("Martlet inbox")

    def test_texts_of_a_row_that_may_be_cut_have_titles(self):
        self.open(push(1, status=400, reason="DeviceTokenNotForTopic"))
        expect(self.rows().locator(".headline")).to_have_attribute("title", "Order 1")
        expect(self.rows().locator(".chip.result")).to_have_attribute("title", "400 DeviceTokenNotForTopic")

    def test_push_details(self):
        wrong = push(1)
        wrong["payload"]["aps"]["badge"] = "3"
        wrong["payload"]["order"] = 12345678901234567890
        wrong["deliveries"] = [{"time": 1_795_000_001, "kind": "delivered"}]
        self.open(wrong)
        self.rows().first.click()
        detail = self.page.locator("#detail")
        expect(detail.locator("h2")).to_have_text("Order 1")
        # The push is shown, and has an error.
        expect(detail.locator(".verdict").first).to_have_attribute("data-tone", "warning")
        lock_screen = self.page.locator(".preview[aria-label='Lock Screen']")
        expect(lock_screen.locator(".title")).to_have_text("Order 1")
        width = self.evaluated(lock_screen.locator(".notification"), "card => card.offsetWidth")
        self.assertEqual(width, 402 - 2 * 8)
        colours = [self.evaluated(made, "made => made.style.getPropertyValue('--app')")
                   for made in [self.rows().first.locator(".mark"), lock_screen.locator(".notification .icon").first]]
        self.assertEqual(colours[0], colours[1], "an app has one colour")
        detail.get_by_role("tab", name="Payload").click()
        found = detail.locator("[data-found]")
        expect(found).to_have_count(1)
        expect(found).to_contain_text('badge: "3"')
        detail.get_by_role("tab", name="Findings 1").click()
        expect(detail.locator(".findings a")).to_have_attribute("href", re.compile("^https://developer.apple.com/"))
        detail.get_by_role("tab", name="Timeline").click()
        expect(detail.locator(".deliveries li")).to_have_count(2)
        detail.get_by_role("tab", name="Raw").click()
        expect(detail.locator("pre")).to_contain_text('"order":12345678901234567890')
        detail.get_by_role("button", name="Delete").click()
        expect(self.rows()).to_have_count(0)

    def test_search_filters_and_keyboard_shortcuts(self):
        silent = push(2, payload={"aps": {"content-available": 1}})
        silent["headers"]["apns-push-type"] = "background"
        self.open(push(1), silent, push(3))
        self.page.keyboard.press("/")
        self.page.keyboard.type('title:"Order 3"')
        expect(self.rows()).to_have_count(1)
        self.page.locator("#search").fill("colour:red")
        expect(self.page.locator("#search-error")).to_contain_text("colour:")
        self.page.get_by_role("button", name="Silent").click()
        expect(self.page.locator("#search")).to_have_value('title:"Order 3" is:silent')
        expect(self.rows()).to_have_count(0)
        self.page.get_by_role("button", name="All", exact=True).click()
        expect(self.rows()).to_have_count(3)
        for key, number in [("j", 3), ("j", 2), ("ArrowDown", 1), ("k", 2)]:
            self.page.keyboard.press(key)
            expect(self.page.locator("[aria-selected=true] .headline, #detail h2").first).to_be_visible()
            expect(self.page.locator(f"#push-{number}[aria-selected=true]")).to_have_count(1)
        self.page.keyboard.press("Escape")
        expect(self.page.locator("[aria-selected=true].row")).to_have_count(0)

    def test_five_thousand_pushes_arrive_during_scrolling(self):
        self.open(push(0))
        for start in range(1, 5001, 500):
            self.simulator.import_pushes(*[push(number) for number in range(start, start + 500)])
            self.page.mouse.move(400, 400)
            self.page.mouse.wheel(0, 3000)
        expect(self.page.locator("#list .rows")).to_have_css("height", f"{5001 * 52}px")
        self.assertLess(self.rows().count(), 60)
        self.evaluated(self.page.locator("#list"), "list => { list.scrollTop = list.scrollHeight }")
        expect(self.page.locator(".row .headline", has_text=re.compile("^Order 0$"))).to_be_visible()

    def test_the_page_reconnects_to_a_restarted_simulator(self):
        self.allow_errors("net::ERR")
        self.open(push(1))
        self.simulator.stop()
        expect(self.page.locator("#live")).to_have_attribute("data-state", "lost")
        self.simulator = Simulator(self.simulator.port)
        self.simulator.import_pushes(push(1), push(2, payload={"aps": {"alert": "after"}}))
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.rows().first.locator(".headline")).to_have_text("after")

    def test_a_hostile_payload_is_shown_as_text(self):
        alert = {"title": HOSTILE, "subtitle": HOSTILE, "body": HOSTILE + "x" * 200_000}
        state = {"headline": HOSTILE, HOSTILE: HOSTILE, "progress": "</style>"}
        activity = push(2, payload={"aps": {"event": HOSTILE, "timestamp": 1, "content-state": state}})
        activity["headers"]["apns-push-type"] = "liveactivity"
        self.open(push(1, payload={"aps": {"alert": alert}, HOSTILE: [HOSTILE]}), activity)
        for row in range(2):
            self.rows().nth(row).click()
            for name in ["Preview", "Payload", "Headers", "Findings", "Timeline", "Raw"]:
                self.page.get_by_role("tab", name=name).click()
                expect(self.page.locator(".panel")).to_be_visible()
        for frame in self.page.frames[:1]:
            self.assertIsNone(frame.evaluate("window.hacked ?? null"))
        self.assertEqual(self.page.locator("img, #detail script").count(), 0)
        self.assertEqual([line for line in self.errors if "hacked" in line or "Refused" in line], [])

    def test_the_page_is_small_and_makes_no_external_requests(self):
        self.open(push(1))
        self.rows().first.click()
        self.page.wait_for_timeout(300)
        hosts = {request.url.split("/")[2] for request in self.requests if request.url.startswith("http")}
        self.assertEqual(hosts, {f"127.0.0.1:{self.simulator.port}"})
        files = [request for request in self.requests if "/api/" not in request.url and request.url.startswith("http")]
        # A file in the browser's cache is only revalidated. Files are sent compressed.
        size = sum(len(gzip.compress(each.response().body())) for each in files if each.response().status == 200)
        self.assertLess(size, 150_000)
        self.page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        paint = self.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        self.assert_fast(f"the first paint with {size} bytes", paint / 1000, 2)

    def test_narrow_screen_in_dark_mode(self):
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.page.emulate_media(color_scheme="dark")
        self.open(push(1))
        expect(self.page.locator("body")).to_have_css("background-color", "rgb(22, 23, 27)")
        self.assertEqual(self.page.evaluate("document.documentElement.scrollWidth"), 390)
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_be_visible()
        expect(self.page.locator("#list")).to_be_hidden()
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#list")).to_be_visible()

    def test_a_time_without_a_date_is_a_number(self):
        made = push(1)
        made["headers"]["apns-expiration"] = "9223372036854775807"
        self.open(made)
        self.rows().first.click()
        expect(self.page.locator(".detail-facts")).to_contain_text("9223372036854776000 s since 1970")


if __name__ == "__main__":
    unittest.main()
