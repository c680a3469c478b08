# SPDX-License-Identifier: Apache-2.0

"""The plots of the status page: axes, read-out by pointer and keyboard, and marks of events."""

import itertools
import math
import re
import unittest

from playwright.sync_api import expect
from relay_walk import RelayWalk


def oklab(colour):
    """The coordinates of a colour `rgb(r, g, b)` in OKLab, in which distances are those that people see."""
    values = [int(value) / 255 for value in re.findall(r"\d+", colour)]
    red, green, blue = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
            1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
            0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short)


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

    def test_a_legend_names_the_unit_and_the_meaning_of_the_marks(self):
        legends = self.page.locator(".plot .legend")
        units = ["pushes", "pushes a second", "failed attempts a second", "seconds"]
        for legend, unit in zip(legends.all(), units, strict=True):
            expect(legend).to_contain_text(f"Lines: {unit}, by lane")
        expect(legends.first.locator(".dot")).to_have_count(3)
        expect(legends.first).to_contain_text("start, reload or change of the fleet")
        for tone in ["warning", "good", ""]:
            colours = [self.evaluated(self.plot.locator(f'{place}[data-tone="{tone}"]').first, f"made => getComputedStyle(made).getPropertyValue('--tone')")
                       for place in [".mark", ".legend .dot"]]
            self.assertEqual(colours[0], colours[1], tone)

    def test_all_colours_of_lines_and_events_are_told_apart(self):
        for scheme in ["light", "dark"]:
            self.page.emulate_media(color_scheme=scheme)
            colours = self.evaluated(self.plot, """plot => {
                const colour = (name, value, property) => {
                    const made = document.createElement("span")
                    made.className = property === "--tone" ? "mark" : ""
                    made.setAttribute(name, value)
                    made.style.color = `var(${property})`
                    plot.append(made)
                    const { color } = getComputedStyle(made)
                    made.remove()
                    return color
                }
                return [...[0, 1, 2, 3, 4, 5, "others"].map((line) => colour("data-line", line, "--series")),
                    ...["good", "warning", "bad", ""].map((tone) => colour("data-tone", tone, "--tone"))]
            }""")
            near = [pair for pair in itertools.combinations(colours, 2) if math.dist(*map(oklab, pair)) < 0.12]
            self.assertEqual(near, [], scheme)

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

    def show_history(self, lanes, *samples):
        """Shows a history whose samples have the figures of each lane, ten seconds apart."""
        samples = [{"time": 1_795_000_000_000 + 10_000 * index, "lanes": sample} for index, sample in enumerate(samples)]
        self.page.route("**/v1/status/history", lambda route: route.fulfill(json={"lanes": lanes, "samples": samples}))
        self.page.reload()

    def test_unknown_values_of_further_lanes_are_not_zero(self):
        self.show_history([f"app{number} development" for number in range(8)], *[[{"delivered-per-second": 0}] * 8] * 3)
        expect(self.plot.locator(".read-out [data-line]").last).to_have_text("3 others unknown")

    def test_of_many_lanes_the_most_important_ones_have_the_same_colours_in_all_plots(self):
        lanes = [f"app{number} development" for number in range(9)]
        # The first lane fails, the second one has the oldest push, and the others have more and more that waits.
        figures = [{"backlog": 10 + lane, "delivered-per-second": lane == 8, "failed-per-second": lane == 0, "oldest-seconds": 30 * (lane == 1)}
                   for lane in range(9)]
        self.show_history(lanes, *[figures] * 3)
        colours = set()
        for plot, others in zip(self.page.locator(".plot").all(), ["54", "0", "0", "0"], strict=True):
            expect(plot.locator("path.line")).to_have_count(6)
            expect(plot.locator(".read-out .name").first).to_have_text("app0 development")
            legend = plot.locator(".read-out [data-line]")
            expect(legend.last).to_have_text(re.compile(rf"^(highest of )?4 others {others}$"))
            names = self.evaluated(plot, """plot => [...plot.querySelectorAll(".read-out [data-line]")].slice(0, -1)
                .map((line) => [line.dataset.line, line.querySelector(".name").textContent].join(" "))""")
            colours.add(tuple(names))
            strokes = self.evaluated(plot, """plot => [...plot.querySelectorAll("path.line")].map((line) => getComputedStyle(line))
                .map(({ stroke, strokeDasharray }) => stroke + strokeDasharray)""")
            self.assertEqual(len(set(strokes)), 6, strokes)
        self.assertEqual(colours, {tuple(f"{colour} app{app} development" for colour, app in enumerate([0, 1, 6, 7, 8]))})


if __name__ == "__main__":
    unittest.main()
