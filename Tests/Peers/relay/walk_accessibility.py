# SPDX-License-Identifier: Apache-2.0

"""The accessibility of the status page: the rules of axe, contrast, names of controls, headings and the keyboard."""

import unittest

from accessibility import assert_accessible, assert_contrast
from playwright.sync_api import expect
from relay_walk import RelayWalk


class Accessibility(RelayWalk):
    def setUp(self):
        super().setUp()
        self.make_dead_letters(2)
        self.ask("POST", "/v1/apps/rides/lanes/development/pause")
        self.write_configuration("{")
        self.reload()

    def open(self):
        self.enter()
        for kind in ["paused", "configuration-rejected", "dead-letters"]:
            expect(self.banner(kind)).to_be_visible()
        expect(self.page.locator("#dead tbody tr")).to_have_count(2)

    def test_axe_has_no_findings_and_text_has_contrast_in_light_and_dark_mode(self):
        def check(place):
            assert_accessible(self, place)
            assert_contrast(self, place)

        for scheme in ["light", "dark"]:
            # A colour that is still changing has no contrast of its own.
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.page.goto(self.url)
            expect(self.page.locator("#sign-in")).to_be_visible()
            check(f"{scheme} sign-in")
            self.open()
            self.page.get_by_text("Events", exact=True).click()
            for line in self.page.locator("#incidents summary").all():
                line.click()
            check(scheme)
            self.page.locator("#incidents .first .link").click()
            expect(self.page.get_by_role("dialog").locator("p")).not_to_have_count(0)
            check(f"{scheme} runbook")
            self.page.keyboard.press("Escape")
            self.page.get_by_role("button", name="Discard").first.click()
            expect(self.page.get_by_role("dialog")).to_contain_text("cannot be undone")
            check(f"{scheme} discard")
            self.page.keyboard.press("Escape")
            self.page.get_by_role("button", name="Pause orders development").click()
            expect(self.page.get_by_role("dialog")).to_be_visible()
            check(f"{scheme} pause")
            self.page.keyboard.press("Escape")
            self.page.get_by_role("button", name="Show the payload").first.click()
            expect(self.page.get_by_role("dialog")).to_contain_text("audit log")
            check(f"{scheme} dead letter")
            self.page.keyboard.press("Escape")
            self.page.get_by_role("button", name="Show the 16 attempts").first.click()
            expect(self.page.get_by_role("dialog")).to_contain_text("429 TooManyRequests")
            check(f"{scheme} attempts")
            self.page.keyboard.press("Escape")
            self.page.set_viewport_size({"width": 390, "height": 800})
            check(f"{scheme} narrow")
            self.page.get_by_role("button", name="Sign out").click()
            self.page.set_viewport_size({"width": 1280, "height": 800})

    def test_every_control_is_reached_by_the_tab_key_and_has_a_name(self):
        self.open()
        self.page.locator("#status").focus()
        names = []
        for _ in range(40):
            self.page.keyboard.press("Tab")
            name = self.page.evaluate("""() => {
              const active = document.activeElement
              return active === document.body ? null : active.getAttribute("aria-label") ?? active.textContent.trim()
            }""")
            if name is None or name in names:
                break
            names.append(name)
        self.assertNotIn("", names)
        for wanted in ["Pause orders development", "Resume rides development", "Waiting and in flight", "Events"]:
            self.assertIn(wanted, names)
        self.assertTrue(any(name.startswith("Show the payload of") for name in names), names)

    def test_a_narrow_page_ends_with_its_last_section(self):
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.open()
        self.assertEqual(self.page.evaluate("document.documentElement.scrollHeight"), 800, "the document scrolls beyond its content")
        beyond = self.page.evaluate("""() => {
          const main = document.getElementById("status")
          const end = main.querySelector(".page").getBoundingClientRect().bottom - main.getBoundingClientRect().top + main.scrollTop
          return main.scrollHeight - end
        }""")
        self.assertLess(beyond, 2, "the page continues below its last section")

    def test_the_page_scrolls_by_keys_after_the_sign_in(self):
        self.open()
        expect(self.page.locator("#status")).to_be_focused()
        self.page.keyboard.press("PageDown")
        self.wait_until(lambda: self.page.evaluate("document.getElementById('status').scrollTop") > 0, "the page has not scrolled")

    def test_headings_and_the_live_region(self):
        self.open()
        expect(self.page.get_by_role("heading", level=2)).to_have_text(
            ["Lanes", "Last hour", "Dead letters", "Jobs", "Phones", "User", "This relay"])
        expect(self.page.locator("#announcement")).to_have_attribute("aria-live", "assertive")
        self.ask("POST", "/v1/apps/rides/lanes/development/resume")
        expect(self.banner("paused")).to_have_count(0)
        expect(self.page.locator("#announcement")).not_to_contain_text("rides is paused")


if __name__ == "__main__":
    unittest.main()
