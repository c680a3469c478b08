# SPDX-License-Identifier: Apache-2.0

"""The Live Activities: the table, and the timeline of one."""

import time
import unittest

from inbox_walk import push
from pages_walk import ACTIVITY, TAXI, PagesWalk
from playwright.sync_api import expect


class Activities(PagesWalk):
    def test_the_table_counts_pushes_that_were_not_shown(self):
        self.open()
        self.send_activity()
        self.go("activities")
        row = self.row("abababab…abababab")
        expect(row).to_contain_text(TAXI)
        expect(row).to_contain_text("ended")
        expect(row).to_contain_text("stage: Here")
        expect(row.locator("td[data-label=Pushes]")).to_have_text("5")
        expect(row.locator("td[data-label='Not shown']")).to_have_text("2")
        expect(self.page.get_by_role("columnheader", name="Type")).to_have_count(0)
        row.locator("td[data-label=App]").click()
        expect(self.page.locator("#page .marks")).to_be_visible()

    def test_the_timeline_of_imported_pushes(self):
        payload = {"aps": {"event": "end", "timestamp": 1_795_000_000, "content-state": {"stage": "Here"}}}
        headers = {"apns-push-type": "liveactivity", "apns-topic": TAXI + ".push-type.liveactivity"}
        self.open(push(1, **{"device-token": ACTIVITY, "headers": headers, "payload": payload}))
        self.page.goto(f"{self.simulator.url}/#/activities/{ACTIVITY}")
        expect(self.page.locator("#page .marks li")).to_have_count(1)
        expect(self.page.locator("#page .state-bar")).to_contain_text("ended")

    def test_the_timeline_of_an_activity(self):
        self.open()
        self.send_activity()
        self.go("activities")
        self.page.get_by_role("link", name="abababab…abababab").click()
        push, state = (self.page.get_by_role("region", name=name) for name in ["Selected push", "Content state"])
        expect(push).to_contain_text("Not shown")
        scrubber = self.page.get_by_role("slider", name="Push")
        scrubber.focus()
        self.page.keyboard.press("Home")
        expect(state.locator("[data-kind=added]")).to_have_count(2)
        self.page.keyboard.press("ArrowRight")
        expect(push).to_contain_text("priority 5")
        expect(state.locator("[data-kind=changed]")).to_have_text('stage: "On its way" was "Ordered"')
        expect(state.locator("[data-kind=added]")).to_have_text('driver.name: "Kim" new')
        expect(state.locator("[data-kind=same]")).to_have_text("eta: 12")
        preview = self.page.get_by_role("region", name="Preview")
        expect(preview.get_by_role("group", name="Lock Screen")).to_contain_text("On its way")
        self.page.keyboard.press("ArrowRight")
        expect(push).to_contain_text("Not shown")
        expect(state.locator("[data-kind=changed], [data-kind=added], [data-kind=removed]")).to_have_count(0)
        expect(state).to_contain_text("Push 3 carried this content state, which was not applied:")
        expect(state.locator(".carried")).to_have_text(['stage: "Late"'])
        # The arrow keys move through the pushes from anywhere on the page.
        scrubber.blur()
        self.page.keyboard.press("ArrowLeft")
        expect(push).to_contain_text("2 of 5")
        self.page.locator("#page h2").click()
        self.page.keyboard.press("ArrowRight")
        expect(push).to_contain_text("3 of 5")
        expect(self.page.get_by_role("region", name="Preview")).to_contain_text("Push 3 was not shown. The screen still shows push 2.")
        outcomes = self.page.locator(".step-mark").evaluate_all("marks => marks.map((mark) => mark.dataset.tone)")
        self.assertEqual(outcomes, ["good", "good", "bad", "warning", "bad"])
        self.page.get_by_role("button", name="Push 4, end").click()
        expect(state.locator("[data-kind=removed]")).to_have_count(2)
        chart = self.page.get_by_role("img", name="4 with priority 10, 1 with priority 5")
        expect(chart).to_be_visible()
        chart.locator(".bar-group").first.hover()
        expect(self.page.get_by_role("region", name="Budget").locator("output")).to_contain_text(": 4 with priority 10, 1 with priority 5")
        self.page.mouse.move(0, 0)
        self.page.get_by_role("group", name="Pushes per hour").press("ArrowLeft")
        expect(self.page.get_by_role("region", name="Budget").locator("output")).to_contain_text(": 4 with priority 10, 1 with priority 5")
        # An older push stays selected when others arrive.
        self.send_activity()
        expect(self.page.locator(".step-mark")).to_have_count(10)
        expect(push).to_contain_text("4 of 10")

    def test_the_first_line_names_the_cause_of_ignored_updates(self):
        self.open()
        for timestamp in [100, 200, 150, 160]:
            payload = {"aps": {"event": "update", "timestamp": timestamp, "content-state": {"stage": str(timestamp)}}}
            self.send(ACTIVITY, payload, "liveactivity", TAXI + ".push-type.liveactivity")
        self.go(f"activities/{ACTIVITY}")
        banner = self.page.locator("#page .banner")
        expect(banner).to_have_text("2 of 4 pushes were not shown: older than the content on screen (last: push 4).")
        items = self.page.get_by_role("list", name="All pushes").locator("li")
        expect(items.first).to_contain_text("Not shown")
        self.send(ACTIVITY, {"aps": {"event": "end", "timestamp": 300}}, "liveactivity", TAXI + ".push-type.liveactivity")
        self.send(ACTIVITY, {"aps": {"event": "update", "timestamp": 400, "content-state": {}}}, "liveactivity",
                  TAXI + ".push-type.liveactivity")
        expect(banner).to_contain_text(
            "3 of 6 pushes were not shown: 2 × older than the content on screen (last: push 4), 1 × the activity has ended (push 6).")
        banner.get_by_role("button", name="push 4").click()
        expect(self.page.get_by_role("region", name="Selected push")).to_contain_text("4 of 6")

    def test_the_first_line_has_the_reasons_of_malformed_updates(self):
        self.open()
        topic = TAXI + ".push-type.liveactivity"
        for timestamp in [100, 1_795_000_000_000, 1_795_000_060_000, None]:
            times = {} if timestamp is None else {"timestamp": timestamp}
            self.send(ACTIVITY, {"aps": {"event": "update", "content-state": {"stage": "A"}, **times}}, "liveactivity", topic)
        self.go(f"activities/{ACTIVITY}")
        banner = self.page.locator("#page .banner")
        expect(banner).to_have_text(
            "3 of 4 pushes were not shown: 2 × its timestamp … is in milliseconds, not in seconds (last: push 3), "
            "1 × it has no timestamp (push 4).")

    def test_content_that_the_app_may_not_decode_is_amber(self):
        self.open()
        topic = TAXI + ".push-type.liveactivity"
        for timestamp, state in [(100, {"stage": "A", "minutes": 5}), (200, {"stage": "B"}), (300, {"stage": "C", "minutes": "3"})]:
            payload = {"aps": {"event": "update", "timestamp": timestamp, "content-state": state}}
            self.send(ACTIVITY, payload, "liveactivity", topic)
        self.go(f"activities/{ACTIVITY}")
        expect(self.page.locator("#page .banner")).to_have_text(
            "2 pushes may not be shown, as the app may not decode the content: 1 × minutes was in push 1, and is missing (push 2), "
            "1 × minutes was a number in push 1, and is a string (push 3).")
        marks = self.page.locator(".step-mark")
        expect(marks).to_have_count(3)
        self.assertEqual(marks.evaluate_all("marks => marks.map((mark) => mark.dataset.tone)"), ["good", "warning", "warning"])
        preview = self.page.get_by_role("region", name="Preview")
        expect(preview).to_contain_text("The app may not decode push 3. In that case the screen still shows push 1.")
        self.send(ACTIVITY, {"aps": {"event": "update", "timestamp": 100, "content-state": {"stage": "D", "minutes": 4}}}, "liveactivity", topic)
        expect(preview).to_contain_text("Push 4 was not shown. The screen still shows push 3, or push 1 if the app did not decode that.")
        self.page.keyboard.press("Home")
        expect(preview).not_to_contain_text("Push")

    def test_an_activity_whose_pushes_were_refused_is_not_active(self):
        token = "ab" * 4 + "000410"
        for timestamp in [100, 200, 300]:
            payload = {"aps": {"event": "update", "timestamp": timestamp, "content-state": {"stage": "A"}}}
            self.send(token, payload, "liveactivity", TAXI + ".push-type.liveactivity")
        self.open()
        self.go(f"activities/{token}")
        expect(self.page.locator("#page .state-bar .chip").first).to_have_text("not shown yet")
        expect(self.page.get_by_role("region", name="Budget").locator("output")).to_have_text(
            "0 with priority 10, 0 with priority 5, up to 0 in one hour.")

    def test_an_activity_whose_pushes_were_not_applied_is_listed(self):
        refused, topic = "ab" * 4 + "000410", TAXI + ".push-type.liveactivity"
        self.simulator.ask("PUT", f"/api/v1/devices/{ACTIVITY}", {"online": False})
        for token, timestamp in [(refused, 100), (refused, 200), (ACTIVITY, 300)]:
            payload = {"aps": {"event": "update", "timestamp": timestamp, "content-state": {"stage": "A"}}}
            self.send(token, payload, "liveactivity", topic, **{"apns-expiration": str(int(time.time()) + 3600)})
        self.open()
        self.go("activities")
        for token, pushes, ignored in [(refused, "2", "2"), ("abababab…abababab", "1", "0")]:
            cells = self.row(token).locator("td")
            expect(cells.and_(self.page.locator("[data-label=State]"))).to_have_text("not shown yet")
            expect(cells.and_(self.page.locator("[data-label=Shows]"))).to_have_text("Nothing yet")
            expect(cells.and_(self.page.locator("[data-label=Pushes]"))).to_have_text(pushes)
            expect(cells.and_(self.page.locator("[data-label='Not shown']"))).to_have_text(ignored)

    def test_an_activity_whose_push_is_stored_is_not_active(self):
        self.simulator.ask("PUT", f"/api/v1/devices/{ACTIVITY}", {"online": False})
        payload = {"aps": {"event": "update", "timestamp": 100, "content-state": {"stage": "A"}}}
        self.send(ACTIVITY, payload, "liveactivity", TAXI + ".push-type.liveactivity", **{"apns-expiration": str(int(time.time()) + 3600)})
        self.open()
        self.go(f"activities/{ACTIVITY}")
        expect(self.page.locator("#page .banner")).to_contain_text("1 is stored")
        expect(self.page.locator("#page .state-bar .chip").first).to_have_text("not shown yet")

    def test_an_update_to_a_device_is_not_shown(self):
        self.send("5d3a6a1c8f9a42d6", {"aps": {"alert": "Your taxi is here"}})
        update = {"aps": {"event": "update", "timestamp": 100, "content-state": {"stage": "A"}}}
        number = self.send("5d3a6a1c8f9a42d6", update, "liveactivity", TAXI + ".push-type.liveactivity")["number"]
        self.open()
        self.page.goto(f"{self.simulator.url}/#/push/{number}")
        expect(self.page.locator("#detail")).to_contain_text("Not shown: this is a device's token, not an activity's")
        self.go("activities")
        expect(self.page.locator("#page .empty")).to_be_visible()
        expect(self.page.locator("#page .banner")).to_have_text(
            "1 Live Activity push was sent to a token of the wrong kind or app, so no activity shows it. Show the push")
        self.page.get_by_role("link", name="Show the push").click()
        expect(self.rows()).to_have_count(1)

    def test_the_screen_of_a_removed_activity_shows_nothing(self):
        self.open()
        topic = TAXI + ".push-type.liveactivity"
        for aps in [{"event": "update", "timestamp": 100, "content-state": {"stage": "A"}},
                    {"event": "end", "timestamp": 200, "dismissal-date": 201},
                    {"event": "update", "timestamp": 300, "content-state": {"stage": "B"}}]:
            self.send(ACTIVITY, {"aps": aps}, "liveactivity", topic)
        self.go(f"activities/{ACTIVITY}")
        preview = self.page.get_by_role("region", name="Preview")
        expect(preview).to_contain_text("Nothing: the activity was removed.")
        expect(preview).not_to_contain_text("The screen still shows")

    def test_a_shown_push_is_reported_as_shown(self):
        self.open()
        self.send(ACTIVITY, {"aps": {"event": "update", "timestamp": int(time.time()), "content-state": {"stage": "a"}}}, "liveactivity",
                  TAXI + ".push-type.liveactivity")
        self.go(f"activities/{ACTIVITY}")
        expect(self.page.locator("#page .banner")).to_have_text("The push was shown.")

    def test_an_activity_is_stale_after_its_date(self):
        self.open()
        for token, stale in [("aa" * 8, 1_000_000_000), ("bb" * 8, 4_102_444_800)]:
            payload = {"aps": {"event": "update", "timestamp": 100, "stale-date": stale, "content-state": {"stage": "a"}}}
            self.send(token, payload, "liveactivity", TAXI + ".push-type.liveactivity")
        self.go("activities")
        for token, state in [("aa" * 8, "stale"), ("bb" * 8, "active")]:
            expect(self.row(token).locator("td[data-label=State]")).to_have_text(state)
        self.row("aa" * 8).get_by_role("link", name="aa" * 8).click()
        expect(self.page.locator("#page .state-bar")).to_contain_text("stale")

    def test_verdicts_decide_what_the_timeline_shows(self):
        self.open()
        self.send_activity()
        answer = self.simulator.ask("GET", f"/api/v1/activities/{ACTIVITY}")
        kinds = ["replaced", "not-shown", "replaced", "stored", "refused"]
        for push, kind in zip(answer["pushes"], kinds):
            push["verdict"] = {"kind": kind, "text": f"Verdict {kind}"}
        self.page.route(f"**/api/v1/activities/{ACTIVITY}", lambda route: route.fulfill(json=answer))
        self.go(f"activities/{ACTIVITY}")
        expect(self.page.locator("#page .banner")).to_contain_text("1 of 5 pushes was not shown. 1 is stored. 1 was refused.")
        push, state = (self.page.get_by_role("region", name=name) for name in ["Selected push", "Content state"])
        expect(push).to_contain_text("Verdict refused")
        expect(state).to_contain_text('stage: "Late"')
        expect(self.page.get_by_role("region", name="Preview")).to_contain_text("The screen still shows push 3.")

    def test_a_removed_activity_shows_nothing(self):
        self.open()
        topic = TAXI + ".push-type.liveactivity"
        self.send(ACTIVITY, {"aps": {"event": "update", "timestamp": 100, "content-state": {"stage": "Here"}}}, "liveactivity", topic)
        self.send(ACTIVITY, {"aps": {"event": "end", "timestamp": 200, "dismissal-date": 1}}, "liveactivity", topic)
        self.go("activities")
        row = self.row("abababab…abababab")
        expect(row.locator("td[data-label=State]")).to_have_text("removed")
        expect(row.locator("td[data-label=Shows]")).to_have_text("Nothing: it was removed")
        row.locator("td[data-label=App]").click()
        expect(self.page.get_by_role("region", name="Preview")).to_contain_text("Nothing: the activity was removed.")

    def test_the_counts_of_an_activity_include_deleted_pushes(self):
        self.open()
        self.send_activity()
        self.simulator.ask("DELETE", "/api/v1/pushes")
        self.go("activities")
        row = self.row("abababab…abababab")
        expect(row.locator("td[data-label=Pushes]")).to_have_text("5")
        expect(row.locator("td[data-label='Not shown']")).to_have_text("2")

    def test_content_that_may_not_decode_is_marked(self):
        topic = TAXI + ".push-type.liveactivity"
        for timestamp, minutes in [(100, 5), (200, "4")]:
            number = self.send(ACTIVITY, {"aps": {"event": "update", "timestamp": timestamp, "content-state": {"minutes": minutes}}},
                               "liveactivity", topic)["number"]
        self.open()
        self.page.goto(f"{self.simulator.url}/#/push/{number}")
        verdict = self.page.locator("#detail .verdict").first
        expect(verdict).to_contain_text("the app may not decode it (minutes was a number in push 1, and is a string)")
        expect(verdict).to_have_attribute("data-tone", "warning")

    def test_an_activity_that_is_not_known_is_explained(self):
        self.allow_errors("status of 404")
        self.open()
        self.go("activities/abcd")
        expect(self.page.locator("#page")).to_contain_text("there is no Live Activity abcd")

    def test_a_timestamp_in_microseconds_is_a_number(self):
        self.open()
        payload = {"aps": {"event": "update", "timestamp": 1_795_000_000_000_000, "content-state": {"stage": "Here"}}}
        self.send(ACTIVITY, payload, "liveactivity", TAXI + ".push-type.liveactivity")
        self.go(f"activities/{ACTIVITY}")
        expect(self.page.get_by_role("region", name="Selected push")).to_contain_text("1795000000000000 s since 1970")


if __name__ == "__main__":
    unittest.main()
