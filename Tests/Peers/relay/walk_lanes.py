# SPDX-License-Identifier: Apache-2.0

"""Lanes on the status page: pausing and resuming them, by pointer and by keyboard."""

import re
import time
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

    def test_paused_lanes_are_resumed_in_the_banner(self):
        for app in self.apps:
            self.ask("POST", f"/v1/apps/{app}/lanes/development/pause")
        self.enter()
        self.banner("paused").get_by_role("button", name="Resume 2 lanes").click()
        dialog = self.page.get_by_role("dialog", name="Resume 2 lanes?")
        expect(dialog).to_contain_text("orders development, rides development")
        dialog.get_by_role("button", name="Resume").click()
        expect(self.banner("paused")).to_have_count(0)
        self.ask("POST", "/v1/apps/rides/lanes/development/pause")
        self.banner("paused").get_by_role("button", name="Resume the lane").click()
        expect(self.banner("paused")).to_have_count(0)
        expect(self.lane("rides")).to_contain_text("Ready")

    def test_pushes_that_expire_in_a_pause_are_listed(self):
        self.ask("POST", "/v1/apps/orders/lanes/development/pause")
        self.push(2, "rides")
        push = {"app": "orders", "to": "5d3a6a1c", "payload": {"aps": {"alert": "Hi"}}, "expiration": int(time.time()) + 2}
        identifier = self.ask("POST", "/v1/pushes", push)["id"]
        self.enter()
        self.banner("paused").get_by_role("button", name="Show expired pushes").click()
        dialog = self.page.get_by_role("dialog", name="Expired pushes")
        expect(dialog.locator("tbody tr")).to_have_count(1)
        expect(dialog.locator("tbody tr")).to_contain_text(identifier)
        expect(dialog).to_contain_text("1 push of the latest 3 outcomes in memory")

    def test_lanes_without_pushes_are_shown_on_request(self):
        status = self.ask("GET", "/v1/status")
        idle = [{**lane, "app": f"idle{number}", "idle": True} for number, lane in enumerate(2 * status["lanes"])]
        status["lanes"] = [{**status["lanes"][0], "state": "delivers", "idle": False}, *idle]
        self.page.route("**/v1/status", lambda route: route.fulfill(json=status))
        self.enter()
        rows = self.page.locator("#lanes tbody tr")
        expect(rows).to_have_count(1)
        expect(rows.first.locator(".chip").first).to_have_text("development")
        self.page.get_by_role("button", name="Show 4 idle lanes").click()
        expect(rows).to_have_count(5)
        self.page.set_viewport_size({"width": 390, "height": 844})
        self.assertLess(self.box(rows.last)["height"], 110, "it has only its name, its state and the button")
        self.page.get_by_role("button", name="Hide 4 idle lanes").click()
        expect(rows).to_have_count(1)

    def test_a_long_name_is_cut_before_the_environment(self):
        name = "the-application-of-a-newsroom-with-a-long-name"
        status = self.ask("GET", "/v1/status")
        status["lanes"] = [{**status["lanes"][0], "app": name}]
        self.page.route("**/v1/status", lambda route: route.fulfill(json=status))
        self.page.set_viewport_size({"width": 380, "height": 844})
        self.enter()
        row = self.page.locator("#lanes tbody tr")
        expect(row.locator(f'.lane [title="{name}"]')).to_be_visible()
        environment = row.locator(".lane .chip")
        expect(environment).to_have_text("development")
        self.assertLess(self.box(environment)["right"], self.box(row)["right"])
        self.assertEqual(self.evaluated(environment, "chip => chip.scrollWidth - chip.clientWidth"), 0, "it is not cut")

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
