# SPDX-License-Identifier: Apache-2.0

"""Deletion: it is counted, applies to the current search, can be undone, and spares what it did not count."""

import unittest

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect


def titled(number, title, **more):
    return push(number, payload={"aps": {"alert": {"title": title}}}, **more)


class Deletion(InboxWalk):
    def setUp(self):
        super().setUp()
        self.page.clock.install()
        self.open(titled(1, "Keep this"), titled(2, "Drop this"), titled(3, "Drop that"), titled(4, "Keep that"))
        expect(self.rows()).to_have_count(4)
        self.toast = self.page.locator(".toast")

    def stored(self):
        return [each["number"] for each in self.simulator.ask("GET", "/api/v1/pushes")["pushes"]]

    def deletions(self):
        return [request for request in self.requests if request.method == "DELETE"]

    def item(self, name):
        return self.page.get_by_role("menuitem", name=name)

    def open_menu(self):
        self.page.get_by_role("button", name="More", exact=True).first.click()

    def test_deletion_is_counted_and_undone(self):
        self.page.locator("#push-2").click()
        self.open_menu()
        self.item("Delete 4 pushes").click()
        expect(self.rows()).to_have_count(0)
        expect(self.toast).to_contain_text("4 pushes deleted")
        self.assertEqual(self.stored(), [4, 3, 2, 1])
        self.toast.get_by_role("button", name="Undo").click()
        expect(self.rows()).to_have_count(4)
        expect(self.page.locator("#tools .shown")).to_have_text("4 pushes")
        self.page.clock.run_for(15_000)
        self.assertEqual(self.stored(), [4, 3, 2, 1])
        self.page.locator("#push-3").click()
        self.page.keyboard.press("Delete")
        expect(self.rows()).to_have_count(3)
        self.page.keyboard.press("z")
        expect(self.rows()).to_have_count(4)
        self.assertEqual(self.deletions(), [])
        self.assertEqual(self.errors, [])

    def test_deletion_takes_place_after_ten_seconds_and_spares_later_pushes(self):
        self.open_menu()
        expect(self.item("Delete 4 pushes")).to_be_visible()
        self.simulator.import_pushes(titled(5, "Later"))
        expect(self.rows()).to_have_count(5)
        self.item("Delete 4 pushes").click()
        expect(self.rows()).to_have_count(1)
        self.page.clock.run_for(9_000)
        self.assertEqual(self.deletions(), [])
        self.page.clock.run_for(2_000)
        self.wait_until(lambda: self.stored() == [5])
        expect(self.toast).to_have_count(0)
        expect(self.rows()).to_have_count(1)
        self.assertEqual(self.errors, [])

    def test_pinned_pushes_are_kept(self):
        self.simulator.ask("PUT", "/api/v1/pushes/2/tags", {"pinned": True})
        expect(self.page.locator("#push-2 .pin")).to_be_visible()
        self.open_menu()
        self.item("Delete 3 pushes").click()
        expect(self.rows()).to_have_count(1)
        self.page.locator("#push-2").click()
        self.page.keyboard.press("Delete")
        expect(self.toast.last).to_contain_text("1 pinned push kept. Unpin to delete.")
        self.page.goto("about:blank")
        self.wait_until(lambda: self.stored() == [2])

    def test_deletion_uses_the_search_that_is_being_typed(self):
        self.page.locator("#search").fill("title:Drop")
        # The search has not begun: the clock stands still.
        expect(self.rows()).to_have_count(4)
        self.open_menu()
        self.item("Delete 2 matching pushes").click()
        expect(self.rows()).to_have_count(0)
        self.page.goto("about:blank")
        self.wait_until(lambda: self.stored() == [4, 1])

    def test_an_invalid_search_deletes_nothing(self):
        language = {"fields": [{"name": "title", "summary": "the title", "example": "title:Order"}]}
        self.page.route("**/api/v1/query", lambda route: route.fulfill(json=language))
        self.page.locator("#search").fill("titel:Drop")
        self.open_menu()
        self.item("Delete matching pushes").click()
        expect(self.toast).to_contain_text("Nothing deleted. There is no field titel:")
        expect(self.page.locator("#search-error")).to_contain_text("did you mean title:?")
        expect(self.rows()).to_have_count(4)
        self.page.goto("about:blank")
        self.assertEqual(self.stored(), [4, 3, 2, 1])
        self.assertEqual(self.errors, [])

    def test_the_next_deletion_completes_the_one_before(self):
        self.page.locator("#push-4").click()
        self.page.keyboard.press("Delete")
        # The button deletes the push of the shown details, which follow the selection.
        expect(self.page.locator("#detail h2")).to_have_text("Drop that")
        self.page.locator("#detail").get_by_role("button", name="Delete").click()
        expect(self.rows()).to_have_count(2)
        self.wait_until(lambda: self.stored() == [3, 2, 1])
        expect(self.toast).to_have_count(1)
        self.page.keyboard.press("z")
        expect(self.rows()).to_have_count(3)
        self.assertEqual(self.errors, [])

    def test_clicks_report_that_the_simulator_does_not_answer(self):
        self.page.locator("#push-4").click()
        expect(self.page.locator("#detail h2")).to_have_text("Keep that")
        self.simulator.process.kill()
        expect(self.page.locator("#live")).to_have_attribute("data-state", "lost")
        self.page.locator("#list").focus()
        self.page.keyboard.press("e")
        expect(self.toast).to_contain_text("The simulator does not answer")
        self.page.clock.run_for(6_000)
        self.page.keyboard.press("Delete")
        self.page.clock.run_for(11_000)
        expect(self.toast).to_contain_text("1 push not deleted. The simulator does not answer")
        expect(self.rows()).to_have_count(4)
        self.page.locator("#search").fill("Drop")
        self.page.clock.run_for(1_000)
        expect(self.page.locator("#search-error")).to_contain_text("The simulator does not answer")
        expect(self.rows()).to_have_count(4)
        self.assertEqual([error for error in self.errors if "Failed to load resource" not in error], [])

    def test_deletion_and_undo_during_a_load_are_kept(self):
        for key, count in [("Delete", 3), ("z", 4)]:
            held = []
            self.page.route("**/api/v1/pushes?*", lambda route: route.continue_() if held else held.append((route, route.fetch())))
            # A nickname is part of each push, so the page loads them again.
            self.simulator.ask("PUT", "/api/v1/devices/00000001", {"name": f"Phone {count}"})
            self.wait_until(lambda: self.page.clock.run_for(300) or held)
            if key == "Delete":
                self.page.locator("#push-4").click()
            self.page.keyboard.press(key)
            expect(self.rows()).to_have_count(count)
            held[0][0].fulfill(response=held[0][1])
            expect(self.page.locator("#push-1")).to_contain_text(f"Phone {count}")
            self.page.unroute("**/api/v1/pushes?*")
            expect(self.rows()).to_have_count(count)
        self.assertEqual(self.errors, [])


if __name__ == "__main__":
    unittest.main()
