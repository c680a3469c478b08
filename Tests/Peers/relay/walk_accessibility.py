# SPDX-License-Identifier: Apache-2.0

"""The accessibility of the status page: contrast, names of controls, headings and the keyboard."""

import importlib.util
import pathlib
import sys
import unittest

from playwright.sync_api import expect
from relay_walk import RelayWalk

# The inbox's file has the same name as this one, so that it cannot be imported by its name.
INBOX = pathlib.Path(__file__).parent.parent / "inbox"
sys.path.append(str(INBOX))
SPECIFICATION = importlib.util.spec_from_file_location("inbox_accessibility", INBOX / "walk_accessibility.py")
inbox = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(inbox)


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

    def test_text_has_contrast_in_light_and_dark_mode(self):
        for scheme in ["light", "dark"]:
            # A colour that is still changing has no contrast of its own.
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            self.page.goto(self.url)
            expect(self.page.locator("#sign-in")).to_be_visible()
            self.assertEqual(self.page.evaluate(inbox.CONTRAST), [], f"{scheme} sign-in")
            self.open()
            self.assertEqual(self.page.evaluate(inbox.CONTRAST), [], scheme)
            self.page.set_viewport_size({"width": 390, "height": 800})
            self.assertEqual(self.page.evaluate(inbox.CONTRAST), [], f"{scheme} narrow")
            self.page.get_by_role("button", name="Sign out").click()
            self.page.set_viewport_size({"width": 1280, "height": 800})
        self.assertEqual(self.errors, [])

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
        self.assertEqual(self.errors, [])

    def test_headings_and_the_live_region(self):
        self.open()
        expect(self.page.get_by_role("heading", level=2)).to_have_text(["Lanes", "Last hour", "Dead letters", "This relay"])
        expect(self.page.locator("#announcement")).to_have_attribute("aria-live", "assertive")
        self.ask("POST", "/v1/apps/rides/lanes/development/resume")
        expect(self.banner("paused")).to_have_count(0)
        expect(self.page.locator("#announcement")).not_to_contain_text("rides is paused")
        self.assertEqual(self.errors, [])


if __name__ == "__main__":
    unittest.main()
