# SPDX-License-Identifier: Apache-2.0

"""The menus beside the search field: the values of the listed pushes with their numbers, which narrow the search."""

import unittest
import urllib.parse

from accessibility import assert_accessible, assert_contrast
from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

MENUS = ["Type", "App", "Verdict", "Finding", "Device"]


class Facets(InboxWalk):
    def setUp(self):
        super().setUp()
        background = {"apns-push-type": "background", "apns-topic": "com.example.other"}
        self.open(push(1), push(2), push(3, status=400, reason="BadDeviceToken"),
                  push(4, headers=background, payload={"aps": {"content-available": 1}}))
        self.search = self.page.get_by_role("combobox", name="Search")
        self.facets = self.page.get_by_role("group", name="Narrow the search")

    def opener(self, name):
        return self.facets.get_by_role("button", name=name, exact=True)

    def menu(self, name):
        return self.facets.get_by_role("menu", name=name, exact=True)

    def values(self, name):
        return self.menu(name).get_by_role("menuitemcheckbox")

    def address_query(self):
        fragment = urllib.parse.urlsplit(self.page.url).fragment
        return urllib.parse.parse_qs(urllib.parse.urlsplit(fragment).query).get("query", [""])[0]

    def test_a_value_adds_its_term_and_removes_it(self):
        self.opener("App").click()
        expect(self.values("App")).to_have_text(["com.example.app3", "com.example.other1"])
        self.values("App").first.click()
        expect(self.menu("App")).to_be_hidden()
        expect(self.search).to_have_value("app:=com.example.app")
        expect(self.rows()).to_have_count(3)
        self.wait_until(lambda: self.address_query() == "app:=com.example.app", "the address does not have the search")
        # The numbers are those of the search.
        self.opener("Verdict").click()
        expect(self.values("Verdict")).to_have_text(["Shown2", "Refused1"])
        self.values("Verdict").last.click()
        expect(self.search).to_have_value("app:=com.example.app verdict:refused")
        expect(self.rows()).to_have_count(1)
        # The menu of a field offers the alternatives to its value, and its opener shows that the search has one.
        for name in ["App", "Verdict"]:
            expect(self.opener(name)).to_have_attribute("aria-description", "in the search")
        expect(self.opener("Type")).not_to_have_attribute("aria-description", "in the search")
        self.opener("Verdict").click()
        expect(self.values("Verdict")).to_have_text(["Shown2", "Refused1"])
        expect(self.values("Verdict").last).to_have_attribute("aria-checked", "true")
        self.values("Verdict").first.click()
        expect(self.search).to_have_value("app:=com.example.app verdict:shown")
        expect(self.rows()).to_have_count(2)
        self.opener("Verdict").click()
        self.values("Verdict").first.click()
        expect(self.search).to_have_value("app:=com.example.app")
        expect(self.rows()).to_have_count(3)
        self.page.reload()
        expect(self.search).to_have_value("app:=com.example.app")
        expect(self.rows()).to_have_count(3)

    def test_a_term_that_no_push_matches_can_be_removed(self):
        self.search.fill("type:voip")
        expect(self.rows()).to_have_count(0)
        self.opener("App").click()
        expect(self.menu("App").get_by_role("menuitem")).to_have_text(["None"])
        self.page.keyboard.press("Escape")
        self.opener("Type").click()
        expect(self.values("Type")).to_have_text(["type:voip", "Alert3", "Background1"])
        self.values("Type").first.click()
        expect(self.search).to_have_value("")
        expect(self.rows()).to_have_count(4)

    def test_the_menus_are_used_with_the_keyboard(self):
        self.opener("Type").focus()
        self.page.keyboard.press("Tab")
        expect(self.opener("App")).to_be_focused()
        self.page.keyboard.press("Shift+Tab")
        self.page.keyboard.press("Enter")
        expect(self.values("Type").first).to_be_focused()
        expect(self.values("Type")).to_have_text(["Alert3", "Background1"])
        self.page.keyboard.press("ArrowDown")
        expect(self.values("Type").last).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.search).to_have_value("type:=background")
        expect(self.rows()).to_have_count(1)
        expect(self.opener("Type")).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.values("Type").first).to_be_focused()
        self.page.keyboard.press("Escape")
        expect(self.menu("Type")).to_be_hidden()
        expect(self.search).to_have_value("type:=background")

    def test_an_open_menu_counts_pushes_that_come_and_leaves_out_deleted_ones(self):
        self.opener("Type").click()
        expect(self.values("Type")).to_have_text(["Alert3", "Background1"])
        self.values("Type").first.press("ArrowDown")
        self.simulator.import_pushes(push(5))
        expect(self.values("Type")).to_have_text(["Alert4", "Background1"])
        expect(self.values("Type").last).to_be_focused()
        self.page.keyboard.press("Escape")
        self.page.locator("#push-4").click()
        self.page.locator("#list").press("Delete")
        expect(self.rows()).to_have_count(4)
        self.opener("Type").click()
        expect(self.values("Type")).to_have_text(["Alert4"])

    def test_values_beyond_the_most_frequent_are_found_by_their_names(self):
        self.simulator.import_pushes(*(push(number) for number in range(5, 30)))
        self.opener("Device").click()
        expect(self.values("Device")).to_have_count(20)
        self.menu("Device").get_by_role("menuitem", name="9 more").click()
        expect(self.search).to_be_focused()
        expect(self.search).to_have_value("device:")
        expect(self.page.get_by_role("listbox", name="Suggestions").get_by_role("option").first).to_be_visible()

    def test_the_menus_fit_every_width_in_light_and_dark_mode(self):
        for width in [1440, 1024, 390]:
            self.page.set_viewport_size({"width": width, "height": 800})
            boxes = [self.box(self.opener(name)) for name in MENUS]
            self.assertEqual(len({round(box["y"]) for box in boxes}), 1, f"{width}: one row")
            self.assertLessEqual(boxes[-1]["right"], width)
            for left, right in zip(boxes, boxes[1:]):
                self.assertLessEqual(left["right"], right["x"])
            field = self.box(self.search)
            self.assertGreater(field["width"], 180, width)
            is_beside = width > 900
            self.assertEqual(boxes[0]["x"] >= field["right"], is_beside, width)
            self.assertEqual(boxes[0]["y"] >= field["bottom"], not is_beside, width)
            for scheme in ["light", "dark"]:
                self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                self.opener("Device").click()
                expect(self.values("Device").first).to_be_visible()
                menu = self.box(self.menu("Device"))
                self.assertGreaterEqual(menu["x"], 0)
                self.assertLessEqual(menu["right"], width)
                assert_accessible(self, f"{width} {scheme}")
                assert_contrast(self, f"{width} {scheme}")
                self.page.keyboard.press("Escape")


if __name__ == "__main__":
    unittest.main()
