# SPDX-License-Identifier: Apache-2.0

"""The search field and the filters: explanations of errors, completion, recent searches, help, and the keyboard."""

import datetime
import unittest

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

LANGUAGE = {"fields": [
    {"name": "app", "summary": "the bundle identifier", "example": "app:com.example.app"},
    {"name": "title", "summary": "the title of the alert", "example": 'title:"Order ready"'},
    {"name": "topic", "summary": "the topic", "example": "topic:com.example.app"},
    {"name": "number", "summary": "numbers and ranges", "example": "number:3,7-9"},
    {"name": "is", "summary": "a state", "values": ["accepted", "refused", "silent", "broadcast"], "example": "is:refused"},
    {"name": "has", "summary": "findings", "values": ["error", "warning"], "example": "has:error"},
    {"name": "reason", "summary": "the reason of a refusal", "example": "reason:BadDeviceToken"},
]}


class Search(InboxWalk):
    def setUp(self):
        super().setUp()
        self.page.route("**/api/v1/query", lambda route: route.fulfill(json=LANGUAGE))
        other = push(3)
        other["headers"]["apns-topic"] = "com.example.other"
        self.open(push(1), push(2, status=400, reason="BadDeviceToken"), other)
        self.search = self.page.get_by_role("combobox", name="Search")
        self.error = self.page.locator("#search-error")

    def options(self):
        return self.page.get_by_role("listbox", name="Suggestions").get_by_role("option")

    def test_an_invalid_search_keeps_the_list_and_explains_itself(self):
        width = self.box(self.search)["width"]
        self.search.fill("number:2-3")
        expect(self.rows()).to_have_count(2)
        for text, message in [("colour:red", "There is no field colour:"), ("is:green", "is:green is not known"),
                              ('title:"Order', "quotation mark is missing"), ("number:x", "must be numbers and ranges")]:
            self.search.fill(text)
            expect(self.error).to_contain_text(message)
            expect(self.search).to_have_attribute("aria-invalid", "true")
            expect(self.rows()).to_have_count(2)
            self.assertEqual(self.box(self.search)["width"], width)
            expect(self.page.locator("#tools .shown")).to_have_text("2 of 3 pushes, without this search")
        expect(self.search).to_have_attribute("aria-describedby", "search-error")
        self.assertGreater(self.box(self.error)["y"], self.box(self.search)["y"])
        self.search.fill("")
        expect(self.error).to_have_text("")
        expect(self.rows()).to_have_count(3)
        everything = self.page.locator("#filters").get_by_role("button", name="All", exact=True)
        expect(everything).to_have_attribute("aria-pressed", "true")
        self.search.fill("is:green")
        expect(everything).to_have_attribute("aria-pressed", "false")
        expect(self.page.locator("#tools .shown")).to_have_text("3 pushes, without this search")
        # A filter replaces what is wrong.
        self.search.fill("colour:red")
        expect(self.error).to_contain_text("colour:")
        self.page.locator("#filters").get_by_role("button", name="Refused", exact=True).click()
        expect(self.search).to_have_value("is:refused")
        expect(self.rows()).to_have_count(1)
        # None of this asked the simulator, whose refusal the browser would report.

    def test_alternatives_are_one_term_beside_a_filter(self):
        self.search.fill("reason:BadDeviceToken OR app:com.example.other")
        expect(self.rows()).to_have_count(2)
        self.page.locator("#filters").get_by_role("button", name="Refused", exact=True).click()
        expect(self.search).to_have_value("reason:BadDeviceToken OR app:com.example.other is:refused")
        expect(self.rows()).to_have_count(1)
        for text in ["app:com.example.other OR", "OR is:refused", "is:refused OR OR is:silent"]:
            self.search.fill(text)
            expect(self.error).to_contain_text("OR must be between two terms")
        # In quotes it is a word of the text.
        self.search.fill('title:"Order OR 1"')
        expect(self.error).to_have_text("")
        expect(self.rows()).to_have_count(0)

    def test_fields_and_values_are_completed_with_the_keyboard(self):
        self.page.keyboard.press("/")
        self.page.keyboard.type("t")
        expect(self.options()).to_have_text(["title:the title of the alert", "topic:the topic"])
        self.page.keyboard.press("ArrowDown")
        expect(self.search).to_have_attribute("aria-activedescendant", "suggestion-0")
        self.page.keyboard.press("Escape")
        expect(self.options()).to_have_count(0)
        expect(self.search).to_be_focused()
        self.search.fill("")
        self.page.keyboard.type("refu")
        expect(self.options().first).to_contain_text("is:refused")
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")
        expect(self.search).to_have_value("is:refused ")
        expect(self.rows()).to_have_count(1)
        self.page.keyboard.type("-app:oth")
        # The values come from the pushes.
        expect(self.options()).to_have_text(["-app:=com.example.other"])
        self.page.keyboard.press("ArrowUp")
        self.page.keyboard.press("Tab")
        expect(self.search).to_have_value("is:refused -app:=com.example.other ")
        expect(self.rows()).to_have_count(1)

    def test_an_error_waits_for_the_end_of_the_suggestions(self):
        self.search.focus()
        self.page.keyboard.type("is:refu")
        expect(self.options()).to_have_text(["is:refused"])
        expect(self.error).to_have_text("")
        self.page.keyboard.press("Escape")
        expect(self.options()).to_have_count(0)
        expect(self.error).to_contain_text("is:refu is not known")

    def test_the_arrow_key_moves_from_the_search_to_the_list(self):
        self.search.fill("is:refused")
        self.page.keyboard.press("ArrowDown")
        expect(self.page.locator("#list")).to_be_focused()
        expect(self.rows()).to_have_count(1)
        # The first push of the matches, which is not the newest of all.
        expect(self.page.locator("#push-2[aria-selected=true]")).to_have_count(1)

    def test_recent_searches_and_help(self):
        self.search.fill("is:refused")
        self.page.keyboard.press("Enter")
        expect(self.rows()).to_have_count(1)
        self.page.reload()
        expect(self.search).to_have_value("is:refused")
        self.search.fill("")
        expect(self.rows()).to_have_count(3)
        self.search.click()
        expect(self.options().first).to_have_text("is:refusedrecent")
        self.options().first.click()
        expect(self.search).to_have_value("is:refused")
        expect(self.rows()).to_have_count(1)
        self.page.get_by_role("button", name="Search help").click()
        help_text = self.page.get_by_role("dialog", name="Search language")
        expect(help_text.locator("dt")).to_have_count(len(LANGUAGE["fields"]))
        help_text.get_by_role("button", name="reason:BadDeviceToken").click()
        expect(self.search).to_have_value("is:refused reason:BadDeviceToken")
        expect(self.rows()).to_have_count(1)

    def test_the_filters_are_one_stop_of_the_tab_key(self):
        stops = self.page.locator("#filters button:not([tabindex='-1'])")
        self.page.locator("#filters").get_by_role("button", name="Refused", exact=True).wait_for()
        expect(stops.locator("visible=true")).to_have_count(1)
        groups = self.page.locator("#filters").get_by_role("group")
        for index, name in enumerate(["Time", "Kind", "Verdict", "Response"]):
            expect(groups.nth(index)).to_have_attribute("aria-label", name)
        all_filter = self.page.locator("#filters").get_by_role("button", name="All", exact=True)
        all_filter.focus()
        self.page.keyboard.press("ArrowDown")
        expect(self.page.locator("#filters").get_by_role("button", name="Time", exact=True)).to_be_focused()
        self.page.keyboard.press("ArrowLeft")
        expect(self.page.locator("#filters").get_by_role("button", name="Today")).to_be_hidden()
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("ArrowDown")
        expect(self.page.locator("#filters").get_by_role("button", name="Alerts")).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.search).to_have_value("type:alert -is:silent")
        expect(self.page.locator("#filters").get_by_role("button", name="Alerts")).to_be_focused()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Home")
        expect(all_filter).to_be_focused()

    def test_a_pasted_apns_id_and_token_find_and_filters_use_the_whole_language(self):
        identifier = "9a8e0f6c-1b2c-4d3e-8f90-123456789abc"
        self.page.unroute("**/api/v1/query")
        self.page.reload()
        self.simulator.import_pushes(push(4, **{"apns-id": identifier}), push(5, **{"device-token": "5d3a6a1c8f9a42d6" * 4}))
        expect(self.rows()).to_have_count(5)
        for text, number in [(identifier, 4), ("5d3a6a1c8f9a42d6" * 4, 5), ("BadDeviceToken", 2)]:
            self.search.fill(f"reason:{text}" if number == 2 else text)
            expect(self.rows()).to_have_count(1)
            expect(self.page.locator(f"#push-{number}")).to_be_visible()
        filters = self.page.locator("#filters")
        for section in ["Time", "Kind", "Verdict", "Response", "Findings", "Apps", "Devices"]:
            self.search.fill("")
            expect(self.rows()).to_have_count(5)
            group = filters.get_by_role("group", name=section, exact=True)
            for name in [each.get_attribute("aria-label") for each in group.locator("button[aria-pressed]").all()]:
                group.get_by_role("button", name=name, exact=True).click()
                expect(group.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")
                expect(self.page.locator("#search-error")).to_have_text("")
                number = group.get_by_role("button", name=name, exact=True).locator(".number")
                # The page shows new numbers later than new rows.
                self.wait_until(lambda: self.rows().count() == int(number.text_content()), f"the rows are not those of {name}")

    def test_a_push_that_arrives_while_a_search_is_evaluated_is_listed(self):
        held = []
        self.page.route("**/api/v1/pushes/numbers?*", lambda route: held.append((route, route.fetch())))
        self.search.fill("is:refused")
        self.wait_until(lambda: held)
        self.page.unroute("**/api/v1/pushes/numbers?*")
        self.simulator.import_pushes(push(4, status=400, reason="BadTopic"))
        expect(self.rows()).to_have_count(4)
        for route, answer in held:
            route.fulfill(response=answer)
        expect(self.rows()).to_have_count(2)

    def test_an_empty_search_is_not_overtaken_by_the_one_before(self):
        held = []
        self.page.unroute("**/api/v1/query")
        self.page.route("**/api/v1/query", lambda route: held.append(route))
        self.page.reload()
        expect(self.rows()).to_have_count(3)
        self.search.fill("is:refused")
        self.search.press("Enter")
        self.wait_until(lambda: held)
        self.search.fill("")
        self.search.press("Enter")
        with self.page.expect_response("**/api/v1/query"):
            held[0].fulfill(json=LANGUAGE)
        self.search.press("Alt+ArrowDown")
        expect(self.options().first).to_be_visible()
        self.page.wait_for_timeout(300)
        expect(self.rows()).to_have_count(3)
        expect(self.search).to_have_value("")

    def test_the_help_button_closes_the_help(self):
        opener = self.page.get_by_role("button", name="Search help")
        help_text = self.page.get_by_role("dialog", name="Search language")
        opener.click()
        expect(help_text).to_be_visible()
        opener.click()
        self.page.wait_for_timeout(300)
        expect(help_text).to_be_hidden()

    def test_escape_closes_the_help_and_not_the_push(self):
        self.rows().first.click()
        self.page.get_by_role("button", name="Search help").click()
        help_text = self.page.get_by_role("dialog", name="Search language")
        expect(help_text).to_be_visible()
        self.page.keyboard.press("Escape")
        expect(help_text).to_be_hidden()
        expect(self.page.locator("#detail h2")).to_be_visible()

    def test_today_begins_at_midnight_of_the_time_zone(self):
        # No day begins during the test. The simulator reads a time without a date by its own clock.
        is_near_midnight = 9 <= datetime.datetime.now(datetime.timezone.utc).hour < 14
        self.open_page(timezone_id="America/Los_Angeles" if is_near_midnight else "Pacific/Auckland")
        page = self.page
        page.goto(self.simulator.url)
        midnight = page.evaluate("new Date().setHours(0, 0, 0, 0)") // 1000
        self.simulator.import_pushes(push(4, time=midnight - 60), push(5, time=midnight))
        today = page.locator("#filters").get_by_role("button", name="Today")
        expect(today.locator(".number")).to_have_text("1")
        today.click()
        expect(page.locator(".row")).to_have_count(1)
        expect(page.locator("#push-5")).to_be_visible()
        # The times in a search are those that the list shows.
        for search, number in {"number:4-5 before:00:00": 4, "number:4-5 after:00:00": 5}.items():
            page.get_by_role("combobox", name="Search").fill(search)
            page.get_by_role("combobox", name="Search").press("Enter")
            expect(page.locator(f"#push-{number}")).to_be_visible()
            expect(page.locator(".row")).to_have_count(1)


if __name__ == "__main__":
    unittest.main()
