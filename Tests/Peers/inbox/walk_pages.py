# SPDX-License-Identifier: Apache-2.0

"""The pages other than the inbox: their navigation, channels, connections and the configuration of clients."""

import re
import socket
import ssl
import subprocess
import unittest

from inbox_walk import MARTLET, Simulator, push
from pages_walk import TAXI, PagesWalk
from playwright.sync_api import expect

PAGES = {
    "Activities": "a", "Devices": "d", "Channels": "c", "Connections": "n", "Faults": "f", "Connect": "o",
}


class Pages(PagesWalk):
    def current(self):
        return self.page.locator("#pages [aria-current=page]")

    def test_every_page_has_an_address_and_a_shortcut(self):
        self.open(push(1))
        for name, letter in PAGES.items():
            self.page.keyboard.press("g")
            self.page.keyboard.press(letter)
            expect(self.page.locator("#page h2").first).to_have_text(name)
            expect(self.current()).to_have_text(name)
            expect(self.page).to_have_url(re.compile(f"#/{name.lower()}$"))
        self.page.go_back()
        expect(self.current()).to_have_text("Faults")
        self.page.reload()
        expect(self.page.locator("#page h2").first).to_have_text("Faults")
        expect(self.page.locator("#live")).to_have_text("Live")
        self.page.keyboard.press("?")
        keys = self.page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(keys).to_contain_text("activities")
        expect(keys.get_by_role("button", name="Close")).to_be_focused()
        self.assertEqual(self.evaluated(keys, "dialog => dialog.scrollTop"), 0, "it opens at its beginning")
        self.page.keyboard.press("Escape")
        self.page.get_by_role("link", name="Inbox").click()
        expect(self.rows()).to_have_count(1)

    def test_a_push_has_an_address(self):
        self.open(push(1), push(2), push(3))
        self.rows().nth(1).click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.page).to_have_url(re.compile("#/push/2$"))
        self.page.keyboard.press("k")
        expect(self.page.locator("#detail h2")).to_have_text("Order 3")
        self.page.go_back()
        expect(self.page.locator("#detail .empty")).to_be_visible()
        self.page.go_forward()
        expect(self.page.locator("#detail h2")).to_have_text("Order 3")
        self.page.goto(f"{self.simulator.url}/#/push/1?query=title:Order")
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        self.page.reload()
        expect(self.page.locator("#detail h2")).to_have_text("Order 1")
        expect(self.page.locator("#search")).to_have_value("title:Order")
        expect(self.page.locator("#push-1[aria-selected=true]")).to_have_count(1)
        self.page.get_by_role("button", name="Refused").click()
        expect(self.rows()).to_have_count(0)
        expect(self.page).to_have_url(re.compile(re.escape("?query=title%3AOrder%20is%3Arefused") + "$"))

    def test_a_page_reports_a_lost_simulator_and_recovers(self):
        self.allow_errors("net::ERR_FAILED")
        self.simulator.ask("PUT", "/api/v1/devices/5d3a6a1c8f9a42d6", {"topics": [TAXI]})
        self.open()
        # The last text that each page shows when it is loaded.
        for address, loaded in {"devices": "5d3a6a1c", "activities": "No Live", "faults": "No active rules."}.items():
            self.go(address)
            expect(self.page.locator("#page .page-body")).to_contain_text(loaded)
            text = self.page.locator("#page .page-body").inner_text()
            with self.simulator_away():
                banner = self.page.locator("#page .banner", has_text="The simulator cannot be reached.")
                expect(banner).to_be_visible()
                expect(banner).to_contain_text("continues when the simulator is back")
                self.assertEqual(self.page.locator("#page .page-body").inner_text()[:20], text[:20])
                if address == "devices":
                    self.page.get_by_role("button", name="Take offline").click()
                    expect(self.page.get_by_role("alert")).to_contain_text("Nothing was changed: the simulator did not answer.")
            expect(banner).to_have_count(0)

    def test_a_page_that_cannot_be_loaded_and_an_unknown_address_are_reported(self):
        self.allow_errors("net::ERR_FAILED")
        self.open()
        self.page.route("**/page/devices.js", lambda route: route.abort())
        self.page.evaluate("location.hash = '#/devices'")
        expect(self.page.locator("#page")).to_contain_text("The simulator cannot be reached")
        self.page.unroute("**/page/devices.js")
        self.page.get_by_role("button", name="Try again").click()
        expect(self.page.locator("#page h2")).to_have_text("Devices")
        self.page.evaluate("location.hash = '#/nowhere'")
        expect(self.page.locator("#page")).to_contain_text("No such page")
        self.page.get_by_role("link", name="Open the inbox").click()
        expect(self.page.locator("#inbox")).to_be_visible()

    def test_nothing_is_requested_for_a_page_that_was_left(self):
        self.open()
        self.go("devices")
        expect(self.page.locator("#page .empty")).to_be_visible()
        with self.page.expect_request("**/api/v1/devices?details=true"):
            pass
        self.page.goto(f"{self.simulator.url}/#/connections")
        expect(self.page.locator("#page .empty")).to_contain_text("No connections yet")
        self.requests.clear()
        for _ in range(2):
            with self.page.expect_request("**/api/v1/connections"):
                pass
        self.assertEqual([each.url for each in self.requests if "/devices" in each.url], [])

    def test_a_channel_is_created_and_subscribed_to(self):
        self.allow_errors("status of 400")
        self.open()
        self.go("channels")
        self.page.get_by_role("button", name="Create a channel").first.click()
        dialog = self.page.get_by_role("dialog", name="Create a channel")
        dialog.get_by_role("textbox", name="App").fill(TAXI)
        dialog.get_by_role("combobox", name="Storage").select_option("Stores the newest")
        dialog.get_by_role("button", name="Create channel").click()
        row = self.row(TAXI)
        expect(row.locator("td[data-label=Subscribers]")).to_have_text("0")
        channel = row.get_by_role("link").inner_text()
        headers = {"apns-push-type": "LiveActivity", "apns-expiration": "4102444800", "apns-priority": "10"}
        payload = {"aps": {"event": "update", "timestamp": 100, "content-state": {"score": "1:0"}}}
        self.simulator.ask(
            "POST", "/api/v1/pushes", {"app": TAXI, "channel": channel, "headers": headers, "payload": payload})
        expect(row).to_contain_text("push 1")
        refused = {**headers, "apns-priority": "7"}
        answer = self.simulator.ask("POST", "/api/v1/pushes", {"app": TAXI, "channel": channel, "headers": refused, "payload": payload})
        self.assertEqual(answer["status"], 400)
        self.page.reload()
        expect(row).to_contain_text("push 1")
        row.get_by_role("button", name=f"Send a broadcast to {channel}").click()
        expect(self.page.locator("#composer").get_by_label("Channel")).to_have_value(channel)
        self.page.locator("#composer").get_by_role("button", name="Close").click()
        expect(self.page.locator("#composer")).to_be_hidden()
        row.get_by_role("link", name=channel).click()
        form = self.page.get_by_role("form", name=f"Subscribe an activity to {channel}")
        form.get_by_label("Activity token").fill("not a token")
        form.get_by_role("button", name="Subscribe").click()
        expect(form.get_by_role("alert")).to_contain_text("hexadecimal")
        form.get_by_label("Activity token").fill("abcd" * 4)
        form.get_by_role("button", name="Subscribe").click()
        subscriber = self.page.get_by_role("table", name="Subscribers").get_by_role("link", name="abcd" * 4)
        expect(subscriber).to_be_visible()
        expect(self.page.get_by_role("heading", name="Subscribers: 1")).to_be_visible()
        expect(self.page.locator("#page .state-bar")).to_have_text(f"{TAXI}Stores the newest")
        expect(self.page.get_by_role("table", name="Broadcasts").locator("tbody tr")).to_have_count(2)
        subscriber.click()
        expect(self.page.get_by_role("region", name="Selected push")).to_contain_text("1 of 1")
        expect(self.page.get_by_role("region", name="Content state")).to_contain_text('score: "1:0"')
        expect(self.page.get_by_role("region", name="Selected push")).to_contain_text("Delivered when the activity subscribed to the channel")
        self.page.go_back()
        self.page.get_by_role("button", name=f"Unsubscribe {'abcd' * 4}").click()
        expect(self.page.get_by_role("region", name="Subscribers")).to_contain_text("No Live Activity subscribes")
        self.page.get_by_role("button", name="Delete channel").click()
        expect(self.page.locator("#page h2")).to_have_text("Channels")
        expect(row).to_have_count(0)
        self.undo()
        expect(row).to_have_count(1)

    def test_connections(self):
        self.open()
        self.go("connections")
        expect(self.page.locator("#page")).to_contain_text("No connections yet")
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        subprocess.run(
            [MARTLET, "send", "--host", apns, "--to", "5d3a6a1c8f9a42d6", "--topic", TAXI, "--body", "Hello"],
            check=True, stdout=subprocess.DEVNULL)
        row = self.page.get_by_role("table", name="Closed connections").locator("tbody tr")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("1 × 200")
        expect(row.locator("time").first).to_have_attribute("title", re.compile(r"\d{4}"))
        row.get_by_role("link").press("Enter")
        expect(self.page.get_by_role("region", name="Connection", exact=True)).to_contain_text("key EPHEMERAL0, team LOCALTEAM0")
        expect(self.page.get_by_role("region", name="Traffic")).to_contain_text("0 open, 1 at peak")

    def test_a_failed_handshake_has_its_cause_and_its_remedy(self):
        failed = {
            "id": 4, "port": "pushes", "peer": "127.0.0.1:4000", "opened": 1_795_000_000, "streams-open": 0, "streams-most": 0,
            "streams-refused": 0, "streams-reset": 0, "requests": 0, "requests-malformed": 0, "answers": {}, "unanswered": 0,
            "handshake-failed": True, "failed": True,
            "closed": {"time": 1_795_000_000, "reason": "127.0.0.1:4000 does not trust the server's certificate: tlsv1 alert unknown ca"},
        }
        self.page.route("**/api/v1/connections", lambda route: route.fulfill(json={
            "open-count": 0, "open": [], "closed-count": 1200, "failed-count": 1200, "closed": [failed]}))
        self.open()
        self.go("connections")
        banner = self.page.locator("#page .banner")
        expect(banner).to_contain_text("1,200 connections failed before the first request.")
        expect(self.page.locator("#page")).to_contain_text("Closed: the last 1 of 1,200")
        expect(banner).to_contain_text("The client does not trust the certificate authority of the simulator. Give it the file ca.pem")
        remedy = "Give it the file ca.pem: see Connect."
        expect(banner).to_contain_text(remedy)
        banner.get_by_role("link", name="Details").click()
        expect(self.page.locator("#page .banner")).to_contain_text(remedy)
        expect(self.page.locator("#page .banner").get_by_role("link", name="Connect")).to_have_attribute("href", "#/connect")
        self.go("connect")
        expect(self.page.get_by_role("region", name="Has a client reached the simulator?")).to_contain_text("A client tried to connect and failed.")

    def test_a_client_with_tls_is_reported_if_the_simulator_has_none(self):
        self.open()
        self.go("connect")
        host, port = self.simulator.ask("GET", "/api/v1/info")["apns"].removeprefix("http://").split(":")
        # The simulator's answer is no TLS; its end of the connection can arrive first.
        with socket.create_connection((host, int(port))) as client, self.assertRaises(OSError):
            ssl.create_default_context().wrap_socket(client, server_hostname=host)
        check = self.page.get_by_role("region", name="Has a client reached the simulator?")
        expect(check).to_contain_text("The client used TLS with a simulator that was started without it (--h2c).")
        self.go("connections")
        expect(self.page.locator("#page .banner")).to_contain_text("Use an http: URL and HTTP/2 with prior knowledge")

    def test_a_connection_lists_its_refused_pushes(self):
        self.simulator.ask("PUT", "/api/v1/devices/5d3a6a1c8f9a42d6", {"topics": ["com.example.other"]})
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        subprocess.run([MARTLET, "send", "--host", apns, "--to", "5d3a6a1c8f9a42d6", "--topic", TAXI, "--body", "Hello"],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.open()
        self.go("connections/1")
        refused = self.page.get_by_role("table", name="Refused and unanswered pushes").locator("tbody tr")
        expect(refused).to_have_count(1)
        expect(refused).to_contain_text("DeviceTokenNotForTopic")
        expect(refused.locator("time")).to_have_attribute("title", re.compile(r"\d{4}"))

    def test_simulated_phones_have_a_page(self):
        self.open()
        expect(self.page.get_by_role("link", name="Phones")).to_be_hidden()
        self.page.goto("about:blank")
        self.simulator.stop()
        self.simulator = Simulator(None, "--phones", "3", "--reliable-phones", "--seed", "7")
        self.simulator.ask("PUT", "/api/v1/phones/surfaces/order-1", {"content": {"n": 1}})
        self.open()
        self.page.get_by_role("link", name="Phones").click()
        expect(self.page.locator("#page h2").first).to_have_text("Phones")
        expect(self.page.locator("#page tbody tr")).to_have_count(3)
        expect(self.page.get_by_role("region", name="Pushes")).to_contain_text("without an effect")
        self.page.get_by_role("link", name="phone-1", exact=True).click()
        expect(self.page.locator("#page h2").first).to_have_text("Phone 1")
        expect(self.page.get_by_role("region", name="Cards")).to_contain_text("No card is on the screen.")
        expect(self.page.get_by_role("region", name="Content")).to_contain_text("widget reloads")
        self.simulator.ask("PUT", "/api/v1/phones/1", {"online": True})
        expect(self.page.get_by_role("region", name="Content")).to_contain_text("online on")
        notifications = self.page.get_by_role("region", name="Notifications")
        expect(notifications).to_contain_text("No notification is on the screen.")
        reports = self.simulator.ask("GET", "/api/v1/phones/reports")["reports"]
        token = next(each["change"]["tokens"]["device"] for each in reports
                     if each["phone"] == 1 and "device" in each["change"].get("tokens", {}))
        self.simulator.ask("POST", "/api/v1/pushes", {
            "device-token": token, "headers": {"apns-push-type": "alert", "apns-topic": "com.example.app"},
            "payload": {"aps": {"alert": {"title": "Order 1", "body": "Packed"}}}})
        expect(notifications).to_contain_text("Order 1")
        expect(notifications).to_contain_text("Packed")

    def test_client_examples_can_be_copied(self):
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.open()
        self.go("connect")
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        recipes = self.simulator.ask("GET", "/api/v1/recipes")["recipes"]
        expect(self.page.get_by_role("region", name="Addresses")).to_contain_text(apns)
        copy = self.page.get_by_role("button", name="Copy the curl example")
        copied = self.copied_by(copy.click)
        expect(copy.locator("svg")).to_have_count(1)
        self.assertIn(f"{apns}/3/device/", copied)
        self.assertEqual(copied, recipes[0]["lines"])
        choice = self.page.get_by_role("combobox", name="Client or language")
        choice.select_option(recipes[-1]["name"])
        expect(self.page.get_by_role("group", name=recipes[-1]["name"])).to_contain_text(recipes[-1]["lines"])
        self.page.reload()
        expect(choice).to_have_value(str(len(recipes) - 1))

    def test_connect_notices_the_first_push(self):
        self.open()
        self.go("connect")
        check = self.page.get_by_role("region", name="Has a client reached the simulator?")
        expect(check).to_contain_text("No client has connected yet.")
        expect(check.locator("[data-done=true]")).to_have_count(0)
        apns = self.simulator.ask("GET", "/api/v1/info")["apns"]
        host, port = apns.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
            expect(check).to_contain_text("Connected: 1 connection")
            expect(check).to_contain_text("It has not sent a request yet.")
        subprocess.run([MARTLET, "send", "--host", apns, "--to", "5d3a6a1c8f9a42d6", "--topic", TAXI, "--body", "Hello"],
                       check=True, stdout=subprocess.DEVNULL)
        expect(check).to_contain_text("A push has arrived: push 1")
        expect(check.locator("[data-done=true]")).to_have_count(3)


if __name__ == "__main__":
    unittest.main()
