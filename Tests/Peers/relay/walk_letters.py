# SPDX-License-Identifier: Apache-2.0

"""Dead letters on the status page: the list, one payload, sending one or all again, and errors."""

import re
import unittest

from playwright.sync_api import expect
from relay_walk import READER, RelayWalk


class DeadLetters(RelayWalk):
    def setUp(self):
        super().setUp()
        self.make_dead_letters(3)
        self.rows = self.page.locator("#dead tbody tr")

    def test_the_list_shows_no_payload_until_it_is_asked_for(self):
        self.enter()
        expect(self.rows).to_have_count(3)
        expect(self.rows.first).to_contain_text("5d3a6a1c")
        expect(self.rows.first).to_contain_text("429 TooManyRequests")
        expect(self.rows.first.locator('[data-label="Attempts"]')).to_have_text("16")
        expect(self.banner("dead-letters")).to_contain_text("3 pushes of orders were abandoned")
        self.assertNotIn("Hi", self.page.locator("#dead").inner_text())
        self.rows.first.get_by_role("button", name="Show the payload").press("Enter")
        dialog = self.page.get_by_role("dialog")
        expect(dialog).to_contain_text('"alert": "Hi"')
        expect(dialog).to_contain_text("audit log")
        self.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(self.rows.first.get_by_role("button", name="Show the payload")).to_be_focused()

    def test_the_buttons_of_a_dead_letter_fit_a_narrow_screen(self):
        self.page.set_viewport_size({"width": 380, "height": 844})
        self.enter()
        discard = self.rows.first.get_by_role("button", name="Discard")
        expect(discard).to_be_visible()
        values = self.box(self.rows.first.locator('[data-label="To"] code'))
        self.assertAlmostEqual(self.box(discard)["right"], values["right"], delta=1)

    def test_a_narrow_screen_has_one_scroll_and_shows_the_first_dead_letters(self):
        def many(route):
            letters = route.fetch().json()["dead-letters"]
            route.fulfill(json={"dead-letters": [{**letters[0], "id": f"00000000-0000-4000-8000-{number:012}"} for number in range(38)]})

        self.page.set_viewport_size({"width": 390, "height": 844})
        self.page.route("**/dead-letters?*", many)
        self.enter()
        box = self.page.get_by_role("region", name="List of dead letters")
        expect(self.rows).to_have_count(38)
        expect(box.locator("tbody tr:visible")).to_have_count(10)
        self.assertEqual(self.evaluated(box, "box => box.scrollHeight - box.clientHeight"), 0)
        self.page.get_by_role("button", name="Show all 38 of the list of dead letters").press("Enter")
        expect(box.locator("tbody tr:visible")).to_have_count(38)
        self.assertEqual(self.evaluated(box, "box => box.scrollHeight - box.clientHeight"), 0)

    def test_the_failed_attempts_are_shown_without_the_content(self):
        self.enter()
        self.rows.first.get_by_role("button", name="Show the 16 attempts").press("Enter")
        dialog = self.page.get_by_role("dialog", name="Attempts")
        expect(dialog).to_contain_text("the relay abandoned the push after 16 attempts")
        expect(dialog).to_contain_text("orders development")
        attempts = dialog.get_by_role("table", name="Failed attempts").locator("tbody tr")
        # The walk skips the attempts between the first and the last one, which are equal.
        expect(attempts).to_have_count(1)
        expect(attempts).to_contain_text("429 TooManyRequests × 2")
        # Two attempts in the same second have one time.
        expect(attempts.locator("th")).to_have_text(re.compile(r"^(\d.*?)( – (?!\1$)\d.*)?$"))
        self.assertNotIn("alert", dialog.inner_text())
        self.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(self.rows.first.get_by_role("button", name="Show the 16 attempts")).to_be_focused()

    def test_a_damaged_push_has_no_answer_of_apple(self):
        def damage(route):
            letters = route.fetch().json()["dead-letters"]
            route.fulfill(json={"dead-letters": [{**letters[0], "apns": {"reason": "Damaged"}}, *letters[1:]]})

        self.page.route("**/dead-letters?*", damage)
        self.enter()
        damaged = self.rows.filter(has_text="Not sent: its stored data is damaged")
        expect(damaged).to_have_count(1)
        expect(damaged.get_by_role("button", name="again")).to_have_count(0)
        expect(self.rows.filter(has_text="429 TooManyRequests")).to_have_count(2)

    def test_a_dead_letter_is_sent_again(self):
        self.enter()
        self.rows.first.get_by_role("button", name="again").click()
        expect(self.rows).to_have_count(2)
        expect(self.rows.first.get_by_role("button").first).to_be_focused()
        expect(self.page.locator("#facts")).to_contain_text("1 delivered")
        expect(self.page.get_by_role("button", name="Send all 2 of orders again")).to_be_visible()

    def test_a_dead_letter_is_discarded_after_a_question(self):
        self.enter()
        expect(self.rows).to_have_count(3)
        discard = self.rows.first.get_by_role("button", name="Discard")
        discard.click()
        dialog = self.page.get_by_role("dialog", name="Discard this dead letter?")
        expect(dialog).to_contain_text("This cannot be undone.")
        expect(dialog).to_contain_text("orders development to 5d3a6a1c, 429 TooManyRequests")
        self.page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        expect(self.rows).to_have_count(3)
        discard.click()
        dialog.get_by_role("button", name="Discard").click()
        expect(self.rows).to_have_count(2)
        expect(self.banner("dead-letters")).to_contain_text("2 pushes of orders were abandoned")
        expect(self.page.locator("#facts")).to_contain_text("0 delivered")

    def test_dead_letters_are_filtered(self):
        self.enter()
        expect(self.rows).to_have_count(3)
        field = self.page.get_by_role("searchbox", name="Filter the dead letters")
        for text, count in [("orders 429", 3), ("TOOMANY 5d3a6a1c", 3), ("rides", 0)]:
            field.fill(text)
            expect(self.rows).to_have_count(count)
        expect(self.page.locator("#dead")).to_have_text("No listed dead letter matches.")
        # The page is shown again each second.
        expect(field).to_have_value("rides")
        field.fill("")
        expect(self.rows).to_have_count(3)

    def test_the_listed_ones_are_sent_again_or_discarded_after_a_question(self):
        self.set_faults()
        self.enter()
        expect(self.rows).to_have_count(3)
        first = self.rows.first.get_attribute("data-id")
        field = self.page.get_by_role("searchbox", name="Filter the dead letters")
        field.fill(first)
        expect(self.page.get_by_role("button", name="Send all")).to_have_count(0)
        self.page.get_by_role("button", name="Send the 1 listed again").click()
        self.page.get_by_role("dialog", name="Send 1 dead letter again?").get_by_role("button", name="Send again").click()
        expect(self.page.locator("#dead")).to_have_text("No listed dead letter matches.")
        expect(self.page.locator("#dead-actions button")).to_have_count(0)
        field.fill("429")
        expect(self.rows).to_have_count(2)
        self.page.get_by_role("button", name="Discard the 2 listed").click()
        dialog = self.page.get_by_role("dialog", name="Discard 2 dead letters?")
        expect(dialog.get_by_role("listitem")).to_have_count(2)
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        dialog.get_by_role("button", name="Discard").click()
        expect(self.page.locator("#dead")).to_contain_text("No dead letters")
        expect(self.page.locator("#facts")).to_contain_text("1 delivered")

    def test_the_banner_leads_to_the_dead_letters_of_its_app(self):
        self.enter()
        self.banner("dead-letters").get_by_role("button", name="Show the dead letters").click()
        expect(self.page.get_by_role("searchbox", name="Filter the dead letters")).to_have_value("orders")
        expect(self.page.locator("#dead-title")).to_be_focused()
        expect(self.page.locator("#dead-title")).to_be_in_viewport()

    def send_all(self):
        self.page.get_by_role("button", name="Send all 3 of orders again").click()
        self.page.get_by_role("dialog", name="Send 3 dead letters of orders again?").get_by_role("button", name="Send again").click()

    def test_all_are_sent_again_at_once_after_a_question(self):
        self.enter()
        everything = self.page.get_by_role("button", name="Send all 3 of orders again")
        everything.click()
        self.page.keyboard.press("Enter")
        expect(everything).to_be_focused()
        expect(self.rows).to_have_count(3)
        self.send_all()
        expect(self.page.locator("#dead")).to_contain_text("No dead letters")
        expect(self.page.locator("#dead-title")).to_be_focused()
        expect(self.page.locator("#facts")).to_contain_text("3 delivered")
        expect(self.page.locator("#incidents")).to_contain_text(" No push waits.")

    def test_a_failure_is_shown_beside_the_button(self):
        self.allow_errors("status of 503")
        self.enter()
        self.page.route("**:requeue", lambda route: route.fulfill(status=503, body='{"detail": "the disk is full"}'))
        self.rows.first.get_by_role("button", name="again").click()
        expect(self.rows.first.get_by_role("alert")).to_have_text("the disk is full")
        expect(self.rows).to_have_count(3)

    def test_a_reader_sees_their_number_only(self):
        self.enter(READER)
        expect(self.page.locator("#dead")).to_contain_text("3 pushes were abandoned. The list needs a key with the scope manage.")
        expect(self.page.locator("#dead-actions button")).to_have_count(0)

    def test_all_are_sent_again_although_the_page_is_left(self):
        self.enter()
        with self.page.expect_request("**/dead-letters:requeue"):
            self.send_all()
        self.page.goto("about:blank")
        self.wait_until(lambda: not self.ask("GET", "/v1/status")["dead-letters"])

    def test_a_failure_of_all_is_shown_beside_their_button(self):
        self.allow_errors("status of 503")
        self.enter()
        self.page.route("**:requeue", lambda route: route.fulfill(status=503, body='{"detail": "the disk is full"}'))
        self.send_all()
        expect(self.page.locator("#dead-actions").get_by_role("alert")).to_have_text("the disk is full")
        everything = self.page.get_by_role("button", name="Send all 3 of orders again")
        expect(everything).to_be_enabled()
        expect(everything).to_be_focused()


if __name__ == "__main__":
    unittest.main()
