# SPDX-License-Identifier: Apache-2.0

"""Lanes on the status page: pausing and resuming them, by pointer and by keyboard."""

import re
import unittest

from playwright.sync_api import expect
from relay_walk import RelayWalk


class Lanes(RelayWalk):
    def test_a_lane_is_paused_and_resumed(self):
        self.enter()
        self.page.get_by_role("button", name="Pause orders development").click()
        dialog = self.page.get_by_role("dialog", name="Pause orders development?")
        expect(dialog).to_contain_text("Pushes wait until you resume.")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        self.assertLess(self.box(dialog)["height"], 400, "it is no higher than its content")
        self.page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        expect(self.lane("orders")).to_contain_text("Ready")
        self.pause("orders")
        expect(self.lane("orders")).to_contain_text("Paused")
        expect(self.lane("orders")).to_contain_text("by operator")
        expect(self.banner("paused")).to_contain_text("orders is paused by operator since")
        self.push(3, wait=False)
        expect(self.banner("paused")).to_contain_text("3 pushes wait.")
        expect(self.tile("Waiting")).to_contain_text("3")
        expect(self.lane("orders").locator('[data-label="Since"] time')).to_have_attribute("title", self.full_time())
        self.page.get_by_role("button", name="Resume orders development").click()
        expect(self.lane("orders")).to_contain_text("Delivers")
        expect(self.page.locator("#incidents")).to_have_text("orders delivers, rides is ready. No push waits.")
        expect(self.page.locator("#facts")).to_contain_text("3 delivered")

    def full_time(self):
        return re.compile(r"20\d\d.*:\d\d:\d\d")

    def test_the_keyboard_keeps_its_place(self):
        self.enter()
        pause = self.page.get_by_role("button", name="Pause rides development")
        expect(pause).to_be_visible()
        pause.focus()
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
        self.page.keyboard.press("Tab")
        self.page.keyboard.press("Enter")
        resume = self.page.get_by_role("button", name="Resume rides development")
        expect(resume).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(pause).to_be_focused()

    def test_an_element_that_changes_while_pressed_gets_the_click(self):
        self.enter()
        self.page.get_by_role("button", name="Pause orders development").hover()
        # The page requests the status once while something is pressed.
        with self.page.expect_response("**/v1/status"):
            self.page.mouse.down()
            self.ask("POST", "/v1/apps/rides/lanes/development/pause")
        # The page would show what it has received now.
        self.page.wait_for_timeout(100)
        self.page.mouse.up()
        expect(self.page.get_by_role("dialog", name="Pause orders development?")).to_be_visible()
        expect(self.lane("rides")).to_contain_text("Paused")

    def test_a_failure_is_shown_beside_the_button(self):
        self.allow_errors("status of 503")
        self.enter()
        self.page.route("**/pause", lambda route: route.fulfill(status=503, body='{"detail": "the disk is full"}'))
        self.pause("orders")
        expect(self.lane("orders").get_by_role("alert")).to_have_text("the disk is full")
        expect(self.page.get_by_role("button", name="Pause orders development")).to_be_enabled()
        self.page.unroute("**/pause")
        self.pause("orders")
        expect(self.lane("orders")).to_contain_text("Paused")
        expect(self.lane("orders").get_by_role("alert")).to_have_count(0)


if __name__ == "__main__":
    unittest.main()
