# SPDX-License-Identifier: Apache-2.0

"""The devices: the table, the actions of a device, and the page of one device."""

import re
import time
import unittest

from pages_walk import TAXI, PagesWalk
from playwright.sync_api import expect

PHONE = "5d3a6a1c8f9a42d6"


class Devices(PagesWalk):
    def known(self, *details):
        """Has the list of devices return these, as a simulator does that knows devices from pushes."""
        self.page.route("**/api/v1/devices?details=true", lambda route: route.fulfill(json={"devices": list(details)}))

    def menu(self, row, item):
        row.get_by_role("button", name=re.compile("^More actions")).click()
        self.page.get_by_role("menuitem", name=item).click()

    def test_a_device_is_managed_with_the_keyboard(self):
        self.allow_errors("status of 404")
        self.open()
        self.page.keyboard.press("g")
        self.page.keyboard.press("d")
        expect(self.page.locator("#page")).to_be_focused()
        expect(self.page.get_by_role("button", name="Register a device").first).to_be_visible()
        self.page.keyboard.press("Tab")
        expect(self.page.get_by_role("button", name="Register a device").first).to_be_focused()
        self.page.keyboard.press("Enter")
        dialog = self.page.get_by_role("dialog", name="Register a device")
        expect(dialog.get_by_role("textbox", name="Device token")).to_be_focused()
        self.page.keyboard.type(PHONE)
        self.page.keyboard.press("Tab")
        self.page.keyboard.type(TAXI)
        self.page.keyboard.press("Enter")
        row = self.row(PHONE)
        expect(row).to_contain_text("online")
        expect(dialog).to_have_count(0)
        row.get_by_role("button", name="Take offline").focus()
        self.page.keyboard.press("Enter")
        expect(row).to_contain_text("offline")
        expect(row.get_by_role("button", name="Bring online")).to_be_focused()
        self.page.keyboard.press("Space")
        expect(row).to_contain_text("online")
        row.get_by_role("link", name=PHONE).press("Enter")
        expect(self.page.locator("#page h2")).to_contain_text(PHONE)

    def test_the_whole_text_of_a_state_is_visible(self):
        self.open()
        self.known(*({"token": f"{number:08x}", "kind": "device", "topics": [TAXI], "answers": answer, "needs-connection": number == 1}
                     for number, answer in enumerate(["InvalidProviderToken", "reset-connection"])))
        self.go("devices")
        chips = self.page.locator("#page [data-label=State] .chip")
        expect(chips).to_have_count(2)
        for width in (1440, 1024, 390):
            self.page.set_viewport_size({"width": width, "height": 800})
            self.assertEqual(chips.evaluate_all("chips => chips.filter((chip) => chip.scrollWidth > chip.clientWidth).length"), 0, width)

    def test_an_element_that_changes_while_pressed_gets_the_click(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI]})
        self.open()
        self.go("devices")
        row = self.row(PHONE)
        row.get_by_role("button", name="Take offline").hover()
        # The page requests the list once while something is pressed.
        with self.page.expect_response("**/api/v1/devices?details=true"):
            self.page.mouse.down()
            self.send(PHONE, {"aps": {"alert": "Your taxi is here"}})
        # The page would show what it has received now.
        self.page.wait_for_timeout(100)
        self.page.mouse.up()
        expect(row).to_contain_text("offline")
        expect(row).to_contain_text("Your taxi is here")

    def test_removing_the_app_and_the_device_can_be_undone(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI]})
        self.send(PHONE, {"aps": {"alert": "Your taxi is here"}})
        self.open()
        self.go("devices")
        row = self.row(PHONE)
        expect(row).to_contain_text("Your taxi is here")
        self.menu(row, "Remove the app (410 Unregistered)")
        expect(row).to_contain_text("unregistered")
        self.assertEqual(self.send(PHONE, {"aps": {"alert": "App removed"}})["status"], 410)
        self.undo()
        expect(row).to_contain_text("online")
        self.assertEqual(self.send(PHONE, {"aps": {"alert": "Again"}})["status"], 200)
        self.menu(row, "Remove the device")
        expect(row).to_have_count(0)
        expect(self.page.locator(".toast").last).to_contain_text(f"Removed {PHONE} with")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/devices")["devices"], [PHONE])
        self.undo()
        expect(row).to_have_count(1)

    def test_a_removed_device_is_removed_when_the_page_is_left(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI]})
        self.open()
        self.go("devices")
        self.menu(self.row(PHONE), "Remove the device")
        expect(self.row(PHONE)).to_have_count(0)
        self.page.goto("about:blank")
        self.page.goto(f"{self.simulator.url}/#/devices")
        expect(self.page.locator("#page .empty")).to_contain_text("No devices yet")

    def test_an_invalid_token_is_explained_in_the_form(self):
        self.allow_errors("status of 400")
        self.open()
        self.go("devices")
        self.page.get_by_role("button", name="Register a device").first.click()
        dialog = self.page.get_by_role("dialog", name="Register a device")
        dialog.get_by_role("textbox", name="Device token").fill("martlet")
        dialog.get_by_role("textbox", name="Topics").fill(TAXI)
        self.page.keyboard.press("Enter")
        expect(dialog.get_by_role("alert")).to_contain_text("hexadecimal")
        expect(dialog.get_by_role("textbox", name="Device token")).to_have_value("martlet")
        self.page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

    def test_devices_known_from_pushes_are_listed_and_filtered(self):
        now = int(time.time())
        self.known(*({"token": f"{number:08x}" * 4, "registered": False, "online": True, "apps": [TAXI], "pushes": 1000 + number,
                      "last": now - 60 * number, "stored": {}, "shown": []} for number in range(1, 301)))
        self.open()
        self.go("devices")
        expect(self.page.locator("#page .title")).to_contain_text("300")
        row = self.row("00000002…00000002")
        expect(row).to_contain_text("1,002")
        expect(row).to_contain_text("2 min ago")
        expect(row).to_contain_text(TAXI)
        expect(self.page.locator("#page")).to_contain_text("200 of 300 devices")
        self.page.get_by_role("searchbox", name="Filter devices").fill("0000012c")
        expect(self.page.locator("#page tbody tr")).to_have_count(1)
        expect(self.page.locator("#page .title")).to_contain_text("1 of 300")
        self.page.get_by_role("searchbox", name="Filter devices").fill("nothing like it")
        expect(self.page.locator("#page .empty")).to_contain_text("No matching devices")

    def test_the_number_of_devices_is_that_of_the_rows(self):
        known = {"registered": False, "online": True, "apps": [TAXI], "pushes": 1, "last": 1, "stored": {}, "shown": []}
        state = {"timestamp": 1, "ended": False, "content-state": {}}
        self.known({"token": PHONE, "kind": "device", **known}, {"token": "ab" * 8, "kind": "activity", "activity": state, **known},
                   {"token": "cd" * 8, "kind": "push-to-start", **known})
        self.open()
        self.go("devices")
        expect(self.page.locator("#page .title .chip")).to_have_text("2")
        expect(self.page.locator("#page tbody tr")).to_have_count(2)
        expect(self.row("cd" * 8)).to_contain_text("push-to-start token")

    def test_a_device_known_from_pushes_shows_its_newest_notification(self):
        self.send(PHONE, {"aps": {"alert": "Your taxi is here"}})
        self.send(PHONE, {"aps": {"badge": 1}})
        self.send("ab" * 8, {"aps": {"badge": 1}})
        self.send("5d3a6a1c8f9a00dead", {"aps": {"alert": "Gone"}})
        self.assertIn("over HTTP/2", self.send("5d3a6a1c8f9a00deaf", {"aps": {"alert": "Answered"}})["note"])
        self.open()
        self.go("devices")
        expect(self.row(PHONE).locator("td[data-label='On screen']")).to_contain_text("Your taxi is here")
        expect(self.row("ab" * 8).locator("td[data-label='On screen']")).to_have_text("Nothing")
        expect(self.row("00dead").locator("td[data-label=State]")).to_have_text("unregistered")
        expect(self.row("00deaf").locator("td[data-label=State]")).to_have_text("hang over HTTP/2")
        self.go(f"devices/{PHONE}")
        expect(self.page.get_by_role("region", name="Notification Center")).to_contain_text("Your taxi is here")

    def test_a_nickname_is_edited_in_place(self):
        device = {"token": PHONE, "online": True, "stored": {}, "shown": [], "environment": "development"}
        self.known(device)
        changes = []

        def put(route):
            changes.append(route.request.post_data_json)
            device.update(changes[-1])
            route.fulfill(status=204)
        self.page.route(f"**/api/v1/devices/{PHONE}", put)
        self.open()
        self.go("devices")
        self.page.get_by_role("button", name=f"Nickname of {PHONE}").click()
        field = self.page.get_by_role("textbox", name=f"Nickname of {PHONE}")
        field.fill("Not this")
        field.press("Escape")
        expect(field).to_have_count(0)
        expect(self.page.get_by_role("button", name=f"Nickname of {PHONE}")).to_be_focused()
        self.page.keyboard.press("Enter")
        field.fill("Kim’s iPhone")
        field.press("Enter")
        expect(self.page.get_by_role("link", name="Kim’s iPhone")).to_be_visible()
        self.assertEqual(changes, [{"name": "Kim’s iPhone"}])

    def test_a_device_has_its_log_its_notifications_and_its_stored_pushes(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI]})
        self.send(PHONE, {"aps": {"alert": "Your taxi is here"}})
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"online": False})
        expiration = int(time.time()) + 3600
        self.send(PHONE, {"aps": {"alert": "Stored one"}}, **{"apns-expiration": str(expiration)})
        self.open()
        self.go(f"devices/{PHONE}")
        log = self.page.get_by_role("region", name="Delivery log")
        expect(log.locator("li")).to_have_count(2)
        expect(log.locator("li").first).to_contain_text("push 2 · Stored: device is offline, expires ")
        expect(log.locator("li").last).to_contain_text("push 1 · Delivered · banner · no sound (aps.sound is missing)")
        expect(self.page.get_by_role("region", name="Notification Center")).to_contain_text("Your taxi is here")
        stored = self.page.get_by_role("region", name="Stored by APNs")
        expect(stored).to_contain_text("Stored one")
        expect(stored.locator("time").nth(1)).to_have_attribute(
            "datetime", time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(expiration)))
        log.get_by_role("link", name="Your taxi is here").click()
        expect(self.page.locator("#detail h2")).to_have_text("Your taxi is here")

    def test_a_push_names_the_limit_of_its_storage(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI], "online": False})
        expiration = str(int(time.time()) + 60 * 86_400)
        number = self.send(PHONE, {"aps": {"alert": "Stored one"}}, **{"apns-expiration": expiration})["number"]
        self.page.goto(f"{self.simulator.url}/#/push/{number}")
        expect(self.page.locator("#detail .verdict").first).to_contain_text("(30 days at most)")
        expect(self.page.locator(".detail-facts")).to_contain_text("stored until")

    def test_a_long_title_leaves_the_time_its_place_in_the_log(self):
        self.send(PHONE, {"aps": {"alert": "x" * 150}})
        self.open()
        self.go(f"devices/{PHONE}")
        item = self.page.get_by_role("region", name="Delivery log").locator("li").first
        expect(item).to_be_visible()
        title, shown = item.locator("a").first, item.locator("time").last
        self.assertLessEqual(self.box(title)["right"], self.box(shown)["left"])

    def test_a_push_is_composed_for_a_device(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI]})
        self.open()
        self.go("devices")
        self.menu(self.row(PHONE), "Send a push to it")
        dialog = self.page.locator("#composer")
        expect(dialog.get_by_label("Device token")).to_have_value(PHONE)
        expect(dialog.get_by_label("Topic")).to_have_value(TAXI)
        dialog.get_by_role("button", name="Send", exact=True).click()
        expect(dialog.locator(".result")).to_contain_text("200")
        self.page.keyboard.press("Escape")
        expect(self.row(PHONE)).to_contain_text("Hello")

    def test_a_date_of_another_day_is_a_date(self):
        long_ago = int(time.time()) - 70 * 86_400
        self.known({"token": PHONE, "online": True, "stored": {}, "shown": [], "last": long_ago, "pushes": 1})
        self.open()
        self.go("devices")
        when = self.row(PHONE).locator("time")
        expect(when).to_have_text("70 days ago")
        expect(when).to_have_attribute("title", re.compile(r"\d{4}.*\d\d?:\d\d:\d\d"))

    def test_the_filter_searches_what_the_list_shows(self):
        self.known(*({"token": f"{number:08x}" * 4, "online": number != 7, "apps": [TAXI], "pushes": 1, "last": 1, "stored": {}, "shown": []}
                     for number in range(1, 26)))
        self.open()
        self.go("devices")
        for text, count in [("offline", 1), ("online", 24), ("stored", 0), ("taxi", 25)]:
            self.page.get_by_role("searchbox", name="Filter devices").fill(text)
            expect(self.page.locator("#page tbody tr")).to_have_count(count)

    def test_a_change_of_topics_keeps_the_environment(self):
        other = {"development": "production", "production": "development"}[self.simulator.ask("GET", "/api/v1/info")["environment"]]
        self.simulator.ask("PUT", f"/api/v1/devices/{PHONE}", {"topics": [TAXI], "environment": other})
        self.open()
        self.go("devices")
        self.menu(self.row(PHONE), "Change its topics")
        self.page.get_by_role("textbox", name="Topics").fill("com.example.other")
        self.page.keyboard.press("Enter")
        expect(self.row(PHONE)).to_contain_text("com.example.other")
        self.assertEqual(self.simulator.ask("GET", f"/api/v1/devices/{PHONE}")["environment"], other)


if __name__ == "__main__":
    unittest.main()
