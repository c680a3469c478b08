# SPDX-License-Identifier: Apache-2.0

"""The layout of previews: sizes on every device and at every text size, truncation, and appearance."""

import unittest

from playwright.sync_api import expect
from preview_walk import LIVE_STATE, RELOAD, SIZES, WITHOUT_ISLAND, PreviewWalk, activity, alert, of_type

# The measured elements: title of the preview, selector, entry of SIZES.
NOTIFICATION = [(title, ".notification", "notification")
                for title in ("Lock Screen", "Banner", "Expanded", "Notification Center")] + [
                    ("Home Screen", ".cell .icon", "app"), ("Summary", ".digest", "notification"), ("Apple Watch", ".watch", "watch"),
                    ("CarPlay", ".screen", "car"), ("Mac", ".notification", "mac")]
ISLAND = [
    ("Dynamic Island compact", ".compact", "compact"), ("Dynamic Island compact", ".leading", "ear"),
    ("Dynamic Island compact", ".trailing", "ear"), ("Dynamic Island minimal", ".minimal", "minimal"),
    ("Dynamic Island expanded", ".expanded", "expanded"), ("Dynamic Island landscape", ".upright", "upright"),
]
# StandBy extends the background of the Lock Screen presentation to the edges.
STANDBY = [("StandBy", ".screen", "standby"), ("StandBy at night", ".screen", "standby")]
STANDBY_VIEW = [("StandBy card", ".screen", "standby"), ("StandBy night", ".screen", "standby")]
MIRRORS = [("Smart Stack", ".smart-card", "smart-stack"), ("CarPlay", ".car-activity", "car-activity"), ("Mac", ".menu-activity", "menu-activity")]
WIDGETS = [(f"Widget {size}", ".widget", size) for size in ("small", "medium", "large")]
ACCESSORIES = [(f"Accessory {shape}", ".accessory", shape) for shape in ("circular", "rectangular", "inline")]
CONTROL = [("Control", ".control.wide", "wide"), ("Control", ".control.round", "round")]

LONG = "Tap to open the order and see where to collect it from the counter. " * 6


class Previews(PreviewWalk):
    def test_every_preview_has_the_documented_size(self):
        self.put_surfaces()
        self.open(
            alert(1, alert={"title": "Ready", "body": "Tap to open."}), activity(2, LIVE_STATE, alert={"body": "Soon"}),
            of_type(3, "widgets", RELOAD, ".push-type.widgets"), of_type(4, "controls", RELOAD, ".push-type.controls"))
        for device in SIZES:
            has_island = device not in WITHOUT_ISLAND
            self.show(1)
            self.choose("Phone", device)
            lock_screen = [("Lock Screen", ".activity", "activity")]
            banner = [("Banner", ".notification", "notification")]
            for number, previews in {
                1: NOTIFICATION, 2: lock_screen + MIRRORS + (ISLAND + STANDBY if has_island else banner),
                3: WIDGETS + ACCESSORIES + (STANDBY_VIEW if has_island else []), 4: CONTROL,
            }.items():
                self.show(number)
                expected = {title for title, _, _ in previews}
                self.assertEqual(set(self.titles()), expected, f"push {number} on {device}")
                for preview in previews:
                    self.assert_size(device, *preview)

    def test_no_text_overflows_at_any_text_size(self):
        self.put_surfaces()
        state = {**LIVE_STATE, "headline": LONG, "subhead": LONG}
        self.open(alert(1, alert={"title": LONG, "subtitle": LONG, "body": LONG}, category="order"), activity(2, state),
                  of_type(3, "widgets", RELOAD, ".push-type.widgets"))
        overflowing = """device => [...device.querySelectorAll("[data-lines]")].filter(part => {
            const lines = part.offsetHeight / parseFloat(getComputedStyle(part).lineHeight)
            return lines > (Number(part.dataset.lines) || Infinity) + 0.1 || part.scrollWidth > part.clientWidth + 1
        }).map(part => part.className)"""
        for size in ("small", "accessibility"):
            for number in (1, 2, 3):
                self.show(number)
                if number == 1:
                    self.choose("Text size", size)
                for title in self.titles():
                    screen = self.screen(title).locator(".device")
                    expect(screen).to_have_attribute("data-text", size)
                    self.assertEqual(self.evaluated(screen, overflowing), [], f"{title} at {size}")
        self.show(1)
        self.assertEqual(self.evaluated(self.screen("Banner").locator(".body"), "body => getComputedStyle(body).fontSize"), "25px")
        self.assert_size("402x874", "Lock Screen", ".notification", "notification")

    def test_truncated_text_is_marked_and_listed(self):
        self.open(alert(1, alert={"title": LONG, "body": LONG}), alert(2, alert={"title": "Ready", "body": "Tap to open."}))
        self.show(1)
        for title, lines in {"Lock Screen": 4, "Banner": 2, "Notification Center": 4}.items():
            figure = self.page.locator("figure", has=self.screen(title))
            if title == "Notification Center":
                self.screen(title).get_by_role("button", name="Show the 2 notifications").click()
            expect(figure.locator(".cut-off")).to_have_count(2)
            card = self.screen(title).locator(".this .notification" if title == "Notification Center" else ".notification")
            body = card.locator(".body")
            self.assertEqual(self.evaluated(body, "body => Math.round(body.clientHeight / 20)"), lines, title)
            expect(card.locator(".title .cut")).to_be_visible()
            expect(body.locator(".cut")).to_be_visible()
            seen = self.evaluated(body, "body => [...body.children].map(line => line.firstChild?.data ?? '').join('')")
            rest = figure.locator(".cut-off q").nth(1).inner_text()
            whole = "".join(LONG.split())
            self.assertEqual("".join((seen + rest).split()), whole, f"{title}: the shown and the listed text are complete")
        expect(self.screen("Expanded").locator(".cut")).to_have_count(0)
        expect(self.screen("Expanded").locator(".body")).to_have_text(LONG)
        self.show(2)
        expect(self.page.locator(".cut-off")).to_have_count(0)
        expect(self.screen("Lock Screen").locator(".cut")).to_have_count(0)

    def test_texts_within_the_limits_of_the_findings_are_not_truncated(self):
        title, body = "Your order 1748 is ready at the counter", (
            "Table seven is waiting for you near the window. Please show this message to the waiter when you arrive, "
            "and collect your order within the next half hour of the day.")
        self.open(alert(1, alert={"title": title, "body": body}))
        self.assertGreater(len(title), 38)
        self.assertGreater(len(body), 160)
        self.show(1)
        expect(self.screen("Lock Screen").locator(".cut")).to_have_count(0)
        self.assertEqual(self.evaluated(self.screen("Lock Screen").locator(".body"), "body => getComputedStyle(body).fontSize"), "15px")

    def test_previews_fit_a_narrow_screen(self):
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.open(alert(1, alert=LONG), activity(2, LIVE_STATE))
        for number, card in ((1, "notification"), (2, "activity")):
            self.show(number)
            self.assert_size("402x874", "Lock Screen", f".{card}", card)
            for screen in self.page.locator(".previews .preview").all():
                box = self.box(screen)
                # A watch is the narrowest screen.
                self.assertGreaterEqual(box["width"], 216)
                self.assertLessEqual(box["x"] + box["width"], 390)
            self.assertEqual(self.page.evaluate("document.documentElement.scrollWidth"), 390)
            self.page.keyboard.press("Escape")

    def test_truncation_does_not_depend_on_fonts(self):
        texts = {"title": LONG, "body": LONG + "Übermäßig größere Straßen. Ещё одна строка. 長い文章は途中で切れます。" * 3}
        self.open(alert(1, alert=texts, **{"mutable-content": 1}))
        lines = "device => [...device.querySelectorAll('.line')].map(line => line.firstChild?.data ?? '')"
        seen, sizes = [], []
        for family in ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"):
            self.page.evaluate("family => document.documentElement.style.setProperty('--sans', family)", family)
            self.page.evaluate("location.hash = '#/'")
            self.show(1)
            drawn = self.screen("Lock Screen").locator(".device")
            seen.append((self.evaluated(drawn, lines), self.page.locator(".cut-off").all_inner_texts()))
            body = self.screen("Lock Screen").locator(".body")
            sizes.append(self.evaluated(body, """body => [body.scrollWidth - body.clientWidth, ...[...body.querySelectorAll(".cut")].map(mark =>
                mark.getBoundingClientRect().right - body.getBoundingClientRect().right)]"""))
            self.page.keyboard.press("Escape")
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        # No line is wider than its place, and the mark of truncation is visible.
        self.assertLess(max(max(each) for each in sizes), 1.5)

    def test_the_notification_is_visible_without_scrolling(self):
        self.open(alert(1, alert={"title": "Ready", "body": LONG}))
        for width, height in ((1440, 760), (1280, 720), (390, 844)):
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.locator("#push-1").click()
            self.wait_until_drawn(1)
            card = self.box(self.screen("Lock Screen").locator(".notification"))
            self.assertLessEqual(card["bottom"], height, f"{width} by {height}")
            self.page.keyboard.press("Escape")

    def test_icons_and_ages_grow_with_the_text(self):
        self.open(alert(1, alert={"title": "Ready", "body": "Tap to open."}))
        self.show(1)
        style = lambda part, name: float(self.evaluated(self.screen("Lock Screen").locator(f".notification > {part}"),
            f"part => getComputedStyle(part).{name}").removesuffix("px"))
        sizes = []
        for size in ("default", "accessibility-5"):
            self.choose("Text size", size)
            expect(self.screen("Lock Screen").locator(".device")).to_have_attribute("data-text", size)
            sizes.append((style(".icon", "width"), style(".when", "fontSize")))
        self.assertEqual(sizes, [(38, 13), (64, 44)])

    def test_phones_without_a_home_indicator_or_camera_button(self):
        self.open(alert(1, alert="Ready"))
        self.show(1)
        expect(self.page.get_by_label("Phone").locator("option:checked")).to_have_text("iPhone 17, 17 Pro, 16 Pro")
        expect(self.screen("Lock Screen").locator(".shortcuts")).to_be_visible()
        self.choose("Phone", "375x667")
        expect(self.page.get_by_label("Phone").locator("option:checked")).to_have_text("iPhone SE")
        expect(self.screen("Lock Screen").locator(".shortcuts")).to_be_hidden()
        expect(self.screen("Home Screen").locator(".indicator")).to_have_count(0)

    def test_settings_are_stored_and_dark_mode_applies(self):
        self.open(alert(1, alert="Ready"))
        self.show(1)
        color = "body => getComputedStyle(body).color"
        body = self.screen("Lock Screen").locator(".body")
        self.assertEqual(self.evaluated(body, color), "rgb(0, 0, 0)")
        self.choose("Appearance", "dark")
        self.choose("Phone", "430x932")
        self.assertEqual(self.evaluated(body, color), "rgb(255, 255, 255)")
        self.page.reload()
        self.show(1)
        expect(self.page.get_by_label("Appearance")).to_have_value("dark")
        self.assert_size("430x932", "Lock Screen", ".notification", "notification")


if __name__ == "__main__":
    unittest.main()
