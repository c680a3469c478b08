# SPDX-License-Identifier: Apache-2.0

"""The relay's status page: sign-in, banner, figures, lanes and the layout."""

import re
import unittest

from playwright.sync_api import expect
from relay_walk import KEY, READER, SENDER, RelayWalk, Traffic


class StatusPage(RelayWalk):
    def test_figures_and_lanes_are_updated(self):
        self.push(3)
        self.enter()
        expect(self.page.locator("#incidents")).to_have_text("orders delivers, rides is ready. No push waits.")
        expect(self.page.locator("#facts")).to_contain_text("3 delivered")
        expect(self.page.locator("#lanes tbody tr")).to_have_count(2)
        expect(self.lane("orders")).to_contain_text("Delivers")
        expect(self.lane("rides")).to_contain_text("Ready")
        expect(self.lane("rides").locator(".chip[data-tone=good]")).to_have_text("Ready")
        expect(self.page.locator(".tile")).to_have_count(4)
        expect(self.tile("Waiting")).to_contain_text("0")
        self.push(2, "rides")
        expect(self.page.locator("#facts")).to_contain_text("5 delivered")
        expect(self.tile("Failing")).to_contain_text("0 of 5 attempts")
        with Traffic(self, "rides"):
            expect(self.tile("Delivered a second")).to_have_text(re.compile("[1-9]"))
            expect(self.lane("rides").locator('[data-label="Sent a second"]')).to_have_text(re.compile("[1-9]"))
        expect(self.page.locator("#dead")).to_contain_text("No dead letters")

    def test_failures_are_listed_by_reason(self):
        self.set_faults({"do": "respond", "reason": "BadDeviceToken", "match": {"device-prefix": "bad0"}})
        self.push(2, token="bad00001")
        self.push(1)
        self.enter()
        expect(self.lane("orders").locator('[data-label="Failures"]')).to_contain_text("BadDeviceToken 2")
        expect(self.tile("Failing")).to_contain_text("67 %")

    def test_the_page_requires_a_key_with_the_scope_read(self):
        self.allow_errors("status of 401", "status of 403")
        self.enter("mrt_wrong")
        expect(self.page.locator("#key-error")).not_to_be_empty()
        expect(self.page.locator("#status")).to_be_hidden()
        self.page.get_by_label("API key").fill(SENDER)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.locator("#key-error")).to_contain_text("does not have the scope read")
        self.page.get_by_label("API key").fill(KEY)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#status")).to_be_visible()
        self.page.reload()
        expect(self.page.locator("#status")).to_be_visible()
        self.page.get_by_role("button", name="Sign out").click()
        self.page.reload()
        expect(self.page.locator("#sign-in")).to_be_visible()

    def test_a_lost_connection_is_the_banner_until_the_relay_answers(self):
        self.allow_errors("net::ERR")
        self.push(1)
        self.ask("POST", "/v1/apps/orders/lanes/development/pause")
        self.enter()
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.banner("paused")).to_be_visible()
        self.relay.stop()
        expect(self.page.locator("#live")).to_have_text("Connection lost. Retrying…")
        expect(self.page.locator("#incidents > :first-child")).to_contain_text("This page cannot reach the relay since")
        expect(self.banner("paused")).to_contain_text("orders is paused by operator")

    def test_the_page_works_below_a_path_of_a_proxy(self):
        asked = []
        self.page.on("request", lambda request: asked.append(request.url))
        self.page.route("**/below/**", lambda route: route.continue_(url=route.request.url.replace("/below/", "/", 1)))
        self.url += "/below/"
        self.enter()
        expect(self.page.locator("#live")).to_have_text("Live")
        self.assertEqual([url for url in asked if "/below/" not in url and url.startswith("http")], [])

    def test_a_rejected_reload_is_shown_until_a_good_one(self):
        self.enter()
        expect(self.page.locator("#incidents")).to_contain_text("Both apps are ready")
        self.write_configuration("{")
        self.reload()
        expect(self.banner("configuration-rejected")).to_contain_text("relay.json is not valid JSON")
        expect(self.banner("configuration-rejected")).to_contain_text("martlet relay check")
        expect(self.page.locator("#announcement")).to_have_text("The new configuration was rejected")
        self.write_configuration()
        self.reload()
        expect(self.banner("configuration-rejected")).to_have_count(0)
        expect(self.page.locator("#announcement")).to_have_text("No problems")

    def test_a_reader_sees_no_controls_and_the_missing_scope(self):
        self.push(1)
        self.enter(READER)
        expect(self.lane("orders")).to_be_visible()
        expect(self.page.locator("#lanes-note")).to_contain_text("need the scope manage")
        expect(self.page.get_by_role("button", name="Pause")).to_have_count(0)

    def test_every_width_in_light_and_dark_mode(self):
        self.enter()
        for width in [1440, 1024, 390]:
            for scheme in ["light", "dark"]:
                self.page.set_viewport_size({"width": width, "height": 800})
                self.page.emulate_media(color_scheme=scheme)
                expect(self.page.locator("#lanes tbody tr")).to_have_count(2)
                # The plots are drawn again when the width has changed.
                self.wait_until(lambda: self.page.evaluate("document.documentElement.scrollWidth") == width, f"the page is not {width} wide")
                self.wait_until(lambda: self.page.evaluate("document.querySelector('.page').scrollWidth") <= width, f"more than {width} wide")

    def make_problems(self, count):
        """Shows a status with a number of problems, the first of which is critical."""
        def incident(number):
            return {"kind": "paused", "severity": "warning" if number else "critical", "title": f"Problem {number}", "since": 1_795_000_000_000,
                    "scope": {"apps": ["orders"], "environments": ["development"]}, "lost": 0, "effect": f"Effect {number}.",
                    "action": f"See https://developer.apple.com/system-status/ and do {number}.", "runbook": "MartletRelayLaneDown", "text": ""}

        status = self.ask("GET", "/v1/status")
        status["incidents"] = [incident(number) for number in range(count)]
        self.page.route("**/v1/status", lambda route: route.fulfill(json=status))

    def test_the_worst_problem_is_shown_in_full_and_the_others_as_lines(self):
        self.make_problems(9)
        for width, height in [(1440, 900), (390, 844)]:
            self.page.set_viewport_size({"width": width, "height": height})
            self.enter()
            banners = self.page.locator("#incidents .banner")
            expect(banners).to_have_count(6)
            expect(banners.first).to_contain_text("do 0.")
            for index in range(1, 6):
                self.assertLess(self.box(banners.nth(index))["height"], 40, "it is one line")
            for tile in self.page.locator(".tile").all():
                expect(tile).to_be_in_viewport()
            self.page.get_by_role("button", name="Sign out").click()
        self.enter()
        banners.nth(1).locator("summary").click()
        expect(banners.nth(1).get_by_role("link")).to_have_attribute("href", "https://developer.apple.com/system-status/")
        expect(banners.nth(1)).to_contain_text("system-status/ and do 1.")
        self.page.get_by_role("button", name="Show 3 more problems").click()
        expect(banners).to_have_count(9)
        # What is open stays open when the relay answers again.
        self.page.wait_for_timeout(1500)
        expect(banners.nth(1).get_by_text("do 1.")).to_be_visible()
        expect(banners.nth(2).get_by_text("do 2.")).to_be_hidden()

    def test_the_section_of_the_runbook_is_shown_although_the_relay_is_gone(self):
        self.allow_errors("net::ERR")
        self.enter()
        expect(self.page.locator("#live")).to_have_text("Live")
        self.relay.stop()
        self.page.get_by_role("button", name="MartletRelayUnreachable").click()
        dialog = self.page.get_by_role("dialog", name="MartletRelayUnreachable")
        expect(dialog).to_contain_text("systemctl status martlet-relay")
        self.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

    def test_the_runbook_has_a_section_for_each_problem_and_links_to_others(self):
        self.make_problems(1)
        self.enter()
        self.page.get_by_role("button", name="MartletRelayLaneDown").click()
        expect(self.page.get_by_role("dialog", name="MartletRelayLaneDown")).to_contain_text("martlet doctor")
        self.page.get_by_role("button", name="Overview").click()
        dialog = self.page.get_by_role("dialog", name="Overview")
        expect(dialog.get_by_role("table")).to_contain_text("CertificateRejected")
        dialog.get_by_role("button", name="MartletRelayCircuitOpen").click()
        expect(self.page.get_by_role("dialog", name="MartletRelayCircuitOpen")).to_contain_text("100 pushes in a row")
        names = self.evaluated(self.page.locator("body"), """async () => (await (await fetch("page/Runbook.md")).text()).match(/^### .*/gm)""")
        self.assertIn("### MartletRelayLanePaused", names)

    def test_an_error_of_the_relay_is_not_a_lost_connection(self):
        self.allow_errors("status of 500")
        self.page.route("**/v1/status/history", lambda route: route.fulfill(status=500, json={"detail": "the history is broken"}))
        self.enter()
        problem = self.page.locator("#problem")
        expect(problem).to_have_text("the history is broken")
        expect(self.page.locator("#incidents")).to_have_text("Both apps are ready. No push waits.")
        self.page.unroute("**/v1/status/history")
        expect(problem).to_be_hidden()
        expect(self.page.locator("#live")).to_have_text("Live")

    def test_an_answer_after_the_sign_out_is_ignored(self):
        held = []
        self.page.route("**/v1/status/history", lambda route: held.append((route, route.fetch())))
        self.enter()
        self.wait_until(lambda: held)
        self.page.get_by_role("button", name="Sign out").click()
        for route, answer in held:
            route.fulfill(response=answer)
        self.page.wait_for_timeout(300)
        self.assertEqual(len(held), 1)
        expect(self.page.locator("#live")).to_have_text("")
        expect(self.page.locator("#sign-in")).to_be_visible()

    def test_an_older_answer_does_not_replace_a_newer_one(self):
        self.enter()
        expect(self.lane("orders")).to_contain_text("Ready")
        held = []
        self.page.route("**/v1/status", lambda route: route.continue_() if held else held.append((route, route.fetch())))
        self.wait_until(lambda: held)
        self.pause("orders")
        expect(self.lane("orders")).to_contain_text("Paused")
        self.page.route("**/v1/status", lambda route: None)
        held[0][0].fulfill(response=held[0][1])
        self.page.wait_for_timeout(300)
        expect(self.lane("orders")).to_contain_text("Paused")


if __name__ == "__main__":
    unittest.main()
