# SPDX-License-Identifier: Apache-2.0

"""The pages other than the inbox: their content, their actions and the navigation."""

import subprocess
import unittest

from inbox_walk import MARTLET, InboxWalk, push
from playwright.sync_api import expect

PAGES = {
    "Activities": "a", "Devices": "d", "Channels": "c", "Connections": "n", "Faults": "f", "Connect": "o",
}
TAXI = "com.example.taxi"
ACTIVITY = "ab" * 16
STATES = [
    ("update", 100, {"stage": "Ordered", "eta": 12}, "10"),
    ("update", 200, {"stage": "On its way", "eta": 12, "driver": {"name": "Kim"}}, "5"),
    ("update", 150, {"stage": "Late"}, "10"),
    ("end", 300, {"stage": "Here"}, "10"),
    ("update", 400, {"stage": "Again"}, "10"),
]


class Pages(InboxWalk):
    def go(self, address):
        self.page.goto(f"{self.simulator.url}/#/{address}")

    def current(self):
        return self.page.locator("#pages [aria-current=page]")

    def send(self, token, payload, push_type="alert", topic=TAXI, priority="10"):
        headers = {"apns-topic": topic, "apns-push-type": push_type, "apns-priority": priority}
        self.simulator.ask("POST", "/api/v1/pushes", {"device-token": token, "headers": headers, "payload": payload})

    def send_activity(self):
        for event, timestamp, state, priority in STATES:
            payload = {"aps": {"event": event, "timestamp": timestamp, "content-state": state}}
            self.send(ACTIVITY, payload, "liveactivity", TAXI + ".push-type.liveactivity", priority)

    def test_every_page_has_an_address_and_a_shortcut(self):
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
        expect(self.page.locator("#live")).to_have_text("Live")
        self.page.keyboard.press("?")
        expect(self.page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("activities")
        self.page.keyboard.press("Escape")
        self.page.get_by_role("link", name="Inbox").click()
        expect(self.rows()).to_have_count(1)
        self.assertEqual(self.errors, [])

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
        self.go("push/1?query=title:Order")
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.page.reload()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        expect(self.page.locator("#search")).to_have_value("title:Order")
        expect(self.page.locator("#push-1[aria-selected=true]")).to_have_count(1)
        self.page.get_by_role("button", name="Refused").click()
        expect(self.rows()).to_have_count(0)
        self.assertTrue(self.page.url.endswith("#/?query=title%3AOrder%20is%3Arefused"))
        self.assertEqual(self.errors, [])

    def test_a_device_is_managed_with_the_keyboard(self):
        self.open()
        self.page.keyboard.press("g")
        self.page.keyboard.press("d")
        expect(self.page.locator("#page")).to_be_focused()
        for text in ["5d3a6a1c8f9a42d6", TAXI]:
            self.page.keyboard.press("Tab")
            self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        card = self.page.get_by_role("article", name="Device 5d3a6a1c8f9a42d6")
        expect(card).to_contain_text("online")
        card.get_by_role("button", name="Take offline").focus()
        self.page.keyboard.press("Enter")
        expect(card).to_contain_text("offline")
        expect(card.get_by_role("button", name="Bring online")).to_be_focused()
        self.send("5d3a6a1c8f9a42d6", {"aps": {"alert": "Your taxi is here"}})
        expect(card).to_contain_text(f"{TAXI}: push 1")
        self.page.keyboard.press("Space")
        expect(card).to_contain_text("online")
        expect(card).not_to_contain_text("stored")
        card.get_by_role("button", name="Remove app").press("Enter")
        expect(card).to_contain_text("unregistered since")
        self.send("5d3a6a1c8f9a42d6", {"aps": {"alert": "App removed"}})
        card.get_by_role("link", name="Show pushes").press("Enter")
        expect(self.rows()).to_have_count(2)
        expect(self.rows().first).to_contain_text("410 Unregistered")
        expect(self.page.locator("#search")).to_have_value("device:5d3a6a1c8f9a42d6")
        self.page.go_back()
        card.get_by_role("button", name="Delete").press("Enter")
        expect(card).to_have_count(0)
        self.page.get_by_role("textbox", name="Device token").fill("martlet")
        self.page.get_by_role("textbox", name="Topics").fill(TAXI)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#page").get_by_role("status")).to_contain_text("hexadecimal")
        self.assertEqual([line for line in self.errors if "400" not in line], [])

    def test_a_channel_is_created_and_subscribed_to(self):
        self.open()
        self.go("channels")
        self.page.get_by_role("textbox", name="App").fill(TAXI)
        self.page.get_by_role("combobox", name="Storage").select_option("most recent message stored")
        self.page.get_by_role("button", name="Create channel").click()
        card = self.page.get_by_role("article", name="Channel")
        expect(card).to_contain_text("0 subscribed")
        channel = card.locator("h3").inner_text()
        headers = {"apns-push-type": "LiveActivity", "apns-expiration": "4102444800", "apns-priority": "10"}
        payload = {"aps": {"event": "update", "timestamp": 100, "content-state": {"score": "1:0"}}}
        self.simulator.ask(
            "POST", "/api/v1/pushes", {"app": TAXI, "channel": channel, "headers": headers, "payload": payload})
        expect(card).to_contain_text("push 1")
        card.get_by_label("Activity token").fill("abcd" * 4)
        card.get_by_role("button", name="Subscribe").click()
        expect(card).to_contain_text("1 subscribed")
        card.get_by_role("link", name="abcd" * 4).click()
        expect(self.page.get_by_role("region", name="Content state")).to_contain_text('score: "1:0"')
        expect(self.page.get_by_role("region", name="Selected push")).to_contain_text("delivered from storage")
        self.page.go_back()
        card.get_by_role("button", name="Delete").click()
        expect(card).to_have_count(0)
        self.assertEqual(self.errors, [])

    def test_the_timeline_of_an_activity(self):
        self.open()
        self.send_activity()
        self.go("activities")
        self.page.get_by_role("link", name="abababab…abababab").click()
        push, state = (self.page.get_by_role("region", name=name) for name in ["Selected push", "Content state"])
        expect(push).to_contain_text("ignored")
        expect(push).to_contain_text("the activity has ended")
        scrubber = self.page.get_by_role("slider", name="Push")
        scrubber.focus()
        self.page.keyboard.press("Home")
        expect(state.locator("[data-kind=added]")).to_have_count(2)
        self.page.keyboard.press("ArrowRight")
        expect(push).to_contain_text("priority 5")
        expect(state.locator("[data-kind=changed]")).to_have_text('stage: "On its way" was "Ordered"')
        expect(state.locator("[data-kind=added]")).to_have_text('driver.name: "Kim" new')
        expect(state.locator("[data-kind=same]")).to_have_text("eta: 12")
        preview = self.page.locator("section[aria-label=Preview] .preview").first
        expect(preview).to_be_visible()
        expect(preview.get_by_text("On its way").first).to_be_visible()
        self.page.keyboard.press("ArrowRight")
        expect(push).to_contain_text("is not after 200")
        expect(state.locator("[data-kind=changed], [data-kind=added], [data-kind=removed]")).to_have_count(0)
        outcomes = self.page.locator(".tick").evaluate_all("ticks => ticks.map((tick) => tick.dataset.outcome)")
        self.assertEqual(outcomes, ["delivered", "delivered", "ignored", "delivered", "ignored"])
        self.page.get_by_role("button", name="Push 4").click()
        expect(state.locator("[data-kind=removed]")).to_have_count(2)
        expect(self.page.get_by_role("img", name="4 with priority 10, 1 with priority 5")).to_be_visible()
        # An older push stays selected when others arrive.
        self.send_activity()
        expect(self.page.locator(".tick")).to_have_count(10)
        expect(push).to_contain_text("4 of 10")
        self.assertEqual(self.errors, [])

    def test_connections(self):
        self.open()
        self.go("connections")
        expect(self.page.locator("#page")).to_contain_text("No open connections.")
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        subprocess.run(
            [MARTLET, "send", "--host", apns, "--to", "5d3a6a1c8f9a42d6", "--topic", TAXI, "--body", "Hello"],
            check=True, stdout=subprocess.DEVNULL)
        row = self.page.locator("details", has_text="Connection 1")
        expect(row).to_contain_text("1 × 200")
        expect(row.locator("summary")).to_contain_text("closed")
        row.locator("summary").press("Enter")
        expect(row).to_contain_text("key EPHEMERAL0, team LOCALTEAM0")
        expect(row).to_contain_text("0 open, 1 at peak")
        self.assertEqual(self.errors, [])

    def test_faults(self):
        self.open()
        self.go("faults")
        indicator = self.page.locator("#faults-on")
        expect(self.page.locator("#page")).to_contain_text("No active rules")
        expect(indicator).to_be_hidden()
        flaky = self.page.get_by_role("button", name="flaky")
        flaky.click()
        expect(flaky).to_have_attribute("aria-pressed", "true")
        expect(indicator).to_have_text("3 faults active")
        flaky.click()
        expect(flaky).to_have_attribute("aria-pressed", "false")
        expect(indicator).to_be_hidden()
        form = self.page.get_by_role("form", name="Add a rule")
        form.get_by_label("Fault").select_option("respond")
        form.get_by_label("reason").fill("TooManyRequests")
        form.get_by_label("retry-after").fill("3")
        form.get_by_label("count").fill("1")
        form.get_by_label("topic").fill(TAXI)
        form.get_by_role("button", name="Add rule").click()
        rule = {"do": "respond", "reason": "TooManyRequests", "retry-after": 3, "count": 1, "match": {"topic": TAXI}}
        expect(self.page.locator(".rules li")).to_have_count(1)
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["rules"], [rule])
        for name in ["devices", ""]:
            self.go(name)
            expect(indicator).to_have_text("1 fault active")
        self.go("faults")
        self.page.reload()
        expect(indicator).to_have_text("1 fault active")
        seed = self.page.get_by_role("textbox", name="Seed")
        seed.fill("-9007199254740993")
        with self.page.expect_response(lambda answer: answer.request.method == "PUT"):
            seed.press("Enter")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["seed"], -9007199254740993)
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["rules"], [rule])
        self.page.get_by_role("button", name="Remove all").click()
        expect(indicator).to_be_hidden()
        self.assertEqual(self.errors, [])

    def test_client_examples_can_be_copied(self):
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.open()
        self.go("connect")
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        expect(self.page.get_by_role("region", name="Addresses")).to_contain_text(apns)
        self.page.get_by_role("button", name="Copy the curl example").click()
        copied = self.page.evaluate("navigator.clipboard.readText()")
        self.assertIn(f"{apns}/3/device/", copied)
        self.assertEqual(copied, self.simulator.ask("GET", "/api/v1/recipes")["recipes"][0]["lines"])
        self.assertEqual(self.errors, [])


if __name__ == "__main__":
    unittest.main()
