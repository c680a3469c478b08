# SPDX-License-Identifier: Apache-2.0

"""An inbox with 50,000 pushes: no task of the page takes 50 ms of processor time."""

import json
import tempfile
import unittest

from inbox_walk import InboxWalk, Simulator, push
from playwright.sync_api import expect

COUNT = 50_000
LIMIT = 50


def longest_task(path):
    """The processor time of the longest task of the page in a trace, in milliseconds."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    threads = {(each["pid"], each["tid"]) for each in events
               if each.get("name") == "thread_name" and each["args"]["name"] == "CrRendererMain"}
    return max(each.get("tdur", 0) for each in events
               if each.get("ph") == "X" and (each["pid"], each["tid"]) in threads and each["name"].endswith("RunTask")) / 1000


class Speed(InboxWalk):
    def traced(self, name, action):
        """Checks the longest task of an action; the best of three runs, because other processes evict caches."""
        best = float("inf")
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            for _ in range(3):
                self.browser.start_tracing(page=self.page, path=file.name, categories=["toplevel"])
                action()
                self.browser.stop_tracing()
                best = min(best, longest_task(file.name))
                if best < LIMIT:
                    break
        self.assert_fast(f"the longest task of {name}", best / 1000, LIMIT / 1000)

    def load(self):
        self.page.goto("about:blank")
        self.page.goto(self.simulator.url)
        expect(self.shown).to_have_text("50,000 pushes")

    def search(self):
        self.page.locator("#search").fill("reason:Unregistered")
        expect(self.shown).to_have_text("1,000 of 50,000 pushes")
        self.page.locator("#search").fill("")
        expect(self.shown).to_have_text("50,000 pushes")

    def group(self):
        self.page.get_by_label("Group by").select_option("device")
        expect(self.page.locator(".group").first).to_be_visible()
        self.page.get_by_label("Group by").select_option("")
        expect(self.page.locator(".group")).to_have_count(0)

    def delete_and_undo(self):
        self.page.locator("#list").press("Control+a")
        self.page.keyboard.press("Delete")
        expect(self.shown).to_have_text("0 pushes")
        self.page.keyboard.press("z")
        expect(self.shown).to_have_text("50,000 pushes")

    def test_fifty_thousand_pushes(self):
        self.simulator.stop()
        self.simulator = Simulator(keep=COUNT)
        for start in range(0, COUNT, 10_000):
            self.simulator.import_pushes(*[push(number, **{
                "device-token": f"{number % 5000:08x}", **({"status": 410, "reason": "Unregistered"} if number % 50 == 0 else {}),
            }) for number in range(start, start + 10_000)])
        self.shown = self.page.locator("#tools .shown")
        for action in [self.load, self.search, self.group, self.delete_and_undo]:
            self.traced(action.__name__, action)
        self.assertLess(self.page.locator("#list *").count(), 1000)


if __name__ == "__main__":
    unittest.main()
