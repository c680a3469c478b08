# SPDX-License-Identifier: Apache-2.0

"""The plots of the status page: axes, read-out by pointer and keyboard, and marks of events."""

import re
import unittest

from playwright.sync_api import expect
from relay_walk import RelayWalk


class Plots(RelayWalk):
    def setUp(self):
        super().setUp()
        self.push(2)
        self.reload()
        self.wait_for_events(2)
        self.ask("POST", "/v1/apps/rides/lanes/development/pause")
        self.ask("POST", "/v1/apps/rides/lanes/development/resume")
        self.wait_for_events(4)
        self.enter()
        self.plot = self.page.locator(".plot").first
        expect(self.plot.locator("path.line")).to_have_count(2)

    def wait_for_events(self, count):
        self.wait_until(lambda: len(self.ask("GET", "/v1/status/events")["events"]) >= count)

    def test_axes_and_names(self):
        expect(self.page.locator(".plot")).to_have_count(4)
        self.assertEqual(self.box(self.plot.locator("svg"))["height"], 180)
        labels = self.plot.locator("svg text")
        expect(labels.filter(has_text=re.compile(r"^\d\d?:\d\d")).first).to_be_attached()
        expect(labels.filter(has_text=re.compile(r"^0$")).first).to_be_attached()
        # Whether a sample counts a push that is in flight depends on when it was taken.
        expect(self.plot.locator(".read-out [data-line]")).to_have_text(
            [re.compile(rf"^{app} development \d+$") for app in ["orders", "rides"]])
        expect(labels.filter(has_text=re.compile(r"^0\.5$"))).to_have_count(0)

    def test_no_label_is_cut(self):
        cut = self.evaluated(self.plot.locator("svg"), """svg => {
            const { left, right } = svg.getBoundingClientRect()
            return [...svg.querySelectorAll("text")].filter((text) => {
                const box = text.getBoundingClientRect()
                return box.left < left - 1 || box.right > right + 1
            }).map((text) => text.textContent)
        }""")
        self.assertEqual(cut, [])

    def test_events_are_marked_and_listed(self):
        for kind in ["started", "reloaded", "paused", "resumed"]:
            expect(self.plot.locator(f'.mark[data-kind="{kind}"]')).to_have_count(1)
        expect(self.plot.locator('.mark[data-kind="paused"] title')).to_contain_text("rides development was paused by operator")
        self.page.get_by_text("Events", exact=True).click()
        expect(self.page.locator("#event-list tbody tr")).to_have_count(4)
        expect(self.page.locator("#event-list tbody tr").first).to_contain_text("rides development was resumed")
        expect(self.page.locator("#event-list tbody time").first).to_have_text(re.compile(r"\d:\d\d:\d\d"))
        expect(self.page.locator("#event-list tbody tr").last).to_contain_text("This relay started with version")

    def test_no_line_has_the_colour_of_an_event(self):
        for scheme in ["light", "dark"]:
            self.page.emulate_media(color_scheme=scheme)
            colours = self.evaluated(self.plot, """plot => {
                const colour = (name, value, property) => {
                    const made = document.createElement("span")
                    made.setAttribute(name, value)
                    made.style.color = `var(${property})`
                    plot.append(made)
                    const { color } = getComputedStyle(made)
                    made.remove()
                    return color
                }
                return [...[0, 1, 2, 3, 4, 5].map((line) => colour("data-line", line, "--series")),
                    ...["good", "warning", "bad", ""].map((tone) => colour("data-tone", tone, "--tone"))]
            }""")
            self.assertEqual(len(set(colours)), 10, f"{scheme}: {colours}")

    def test_the_read_out_follows_pointer_and_arrow_keys_in_all_plots(self):
        read_outs = self.page.locator(".read-out")
        expect(read_outs.first).to_contain_text("latest, ")
        self.plot.locator("svg").hover(position={"x": 200, "y": 80})
        for index in range(4):
            expect(read_outs.nth(index)).to_contain_text(re.compile(r"\d:\d\d:\d\d"))
        expect(self.page.locator(".cursor line")).to_have_count(4)
        self.page.mouse.move(5, 5)
        expect(read_outs.first).to_contain_text("latest, ")
        slider = self.page.get_by_role("slider", name="Waiting")
        slider.focus()
        self.page.keyboard.press("Home")
        expect(slider).to_have_attribute("aria-valuenow", "0")
        expect(slider).to_have_attribute("aria-valuetext", re.compile(r"orders development \d+ push(es)?, rides development \d+ push(es)?"))
        expect(self.page.locator(".cursor line")).to_have_count(4)

    def test_unknown_values_of_further_lanes_are_not_zero(self):
        lanes = [f"app{number} development" for number in range(8)]
        samples = [{"time": 1_795_000_000_000 + 10_000 * index, "lanes": [{"sent-per-second": 0}] * 8} for index in range(3)]
        self.page.route("**/v1/status/history", lambda route: route.fulfill(json={"lanes": lanes, "samples": samples}))
        self.page.reload()
        expect(self.plot.locator(".read-out [data-line]").last).to_have_text("3 more unknown")


if __name__ == "__main__":
    unittest.main()
