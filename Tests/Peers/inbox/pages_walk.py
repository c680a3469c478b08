# SPDX-License-Identifier: Apache-2.0

"""The base class of the tests of the pages other than the inbox."""

from contextlib import contextmanager

from inbox_walk import InboxWalk
from playwright.sync_api import expect

TAXI = "com.example.taxi"
ACTIVITY = "ab" * 16
STATES = [
    ("update", 100, {"stage": "Ordered", "eta": 12}, "10"),
    ("update", 200, {"stage": "On its way", "eta": 12, "driver": {"name": "Kim"}}, "5"),
    ("update", 150, {"stage": "Late"}, "10"),
    ("end", 300, {"stage": "Here"}, "10"),
    ("update", 400, {"stage": "Again"}, "10"),
]


class PagesWalk(InboxWalk):
    def go(self, address):
        self.page.goto(f"{self.simulator.url}/#/{address}")
        expect(self.page.locator("#page h2").first).to_be_visible()

    def row(self, text):
        return self.page.locator("#page tbody tr", has_text=text)

    def send(self, token, payload, push_type="alert", topic=TAXI, priority="10", **headers):
        headers = {"apns-topic": topic, "apns-push-type": push_type, "apns-priority": priority, **headers}
        return self.simulator.ask("POST", "/api/v1/pushes", {"device-token": token, "headers": headers, "payload": payload})

    def send_activity(self):
        for event, timestamp, state, priority in STATES:
            payload = {"aps": {"event": event, "timestamp": timestamp, "content-state": state}}
            self.send(ACTIVITY, payload, "liveactivity", TAXI + ".push-type.liveactivity", priority)

    def undo(self):
        self.page.locator(".toast").last.get_by_role("button", name="Undo").click()

    @contextmanager
    def simulator_away(self):
        """The simulator does not answer, as on a machine that sleeps, and then continues."""
        self.page.route("**/api/v1/**", lambda route: route.abort())
        yield
        self.page.unroute("**/api/v1/**")
