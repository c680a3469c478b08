"""The pages besides the inbox, and the ways between them all."""

import unittest

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

PAGES = {
    "Activities": "a", "Devices": "d", "Channels": "c", "Connections": "n", "Faults": "f", "Connect": "o",
}


class Pages(InboxWalk):
    def current(self):
        return self.page.locator("#pages [aria-current=page]")

    def test_every_page_has_an_address_and_a_key(self):
        self.open(push(1))
        for name, letter in PAGES.items():
            self.page.keyboard.press("g")
            self.page.keyboard.press(letter)
            expect(self.page.locator("#page h2").first).to_have_text(name)
            expect(self.current()).to_have_text(name)
            self.assertTrue(self.page.url.endswith(f"#/{name.lower()}"))
        self.page.go_back()
        expect(self.current()).to_have_text("Faults")
        self.page.reload()
        expect(self.page.locator("#page h2").first).to_have_text("Faults")
        self.page.keyboard.press("?")
        expect(self.page.get_by_role("dialog", name="Keys")).to_contain_text("activities")
        self.page.keyboard.press("Escape")
        self.page.get_by_role("link", name="Inbox").click()
        expect(self.rows()).to_have_count(1)
        self.assertEqual(self.complaints, [])

    def test_a_push_has_an_address(self):
        self.open(push(1), push(2), push(3))
        self.rows().nth(1).click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        self.assertTrue(self.page.url.endswith("#/push/2"))
        self.page.keyboard.press("k")
        expect(self.page.locator("#detail h2")).to_have_text("Order 3")
        self.page.go_back()
        expect(self.page.locator("#detail .empty")).to_be_visible()
        self.page.go_forward()
        expect(self.page.locator("#detail h2")).to_have_text("Order 3")
        self.page.goto(self.simulator.url + "/#/push/1?query=title:Order")
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.page.reload()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        expect(self.page.locator("#search")).to_have_value("title:Order")
        expect(self.page.locator("#push-1[aria-selected=true]")).to_have_count(1)
        self.page.get_by_role("button", name="Refused").click()
        expect(self.rows()).to_have_count(0)
        self.assertTrue(self.page.url.endswith("#/?query=title%3AOrder%20is%3Arefused"))
        self.assertEqual(self.complaints, [])


if __name__ == "__main__":
    unittest.main()
