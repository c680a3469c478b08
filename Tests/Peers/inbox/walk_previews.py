# SPDX-License-Identifier: Apache-2.0

"""The layout of previews: sizes on every device and at every text size, truncation, and appearance."""

import unittest

from playwright.sync_api import expect
from preview_walk import LIVE_STATE, RELOAD, SIZES, PreviewWalk, activity, alert, of_type

# The measured elements: title of the preview, selector, entry of SIZES.
NOTIFICATION = [(title, ".notification", "notification")
                for title in ("Lock Screen", "Banner", "Expanded", "Notification Center")] + [
                    ("Home Screen", ".cell .icon", "app"), ("Summary", ".digest", "notification"), ("Apple Watch", ".watch", "watch"),
                    ("CarPlay", ".screen", "car"), ("Mac", ".notification", "mac")]
ISLAND = [
    ("Dynamic Island compact", ".compact", "compact"), ("Dynamic Island compact", ".leading", "ear"),
    ("Dynamic Island compact", ".trailing", "ear"), ("Dynamic Island minimal", ".minimal", "minimal"),
    ("Dynamic Island expanded", ".expanded", "expanded"),
]
STANDBY = [("StandBy", ".activity", "standby"), ("StandBy at night", ".activity", "standby")]
STANDBY_VIEW = [("StandBy card", ".activity", "standby"), ("StandBy night", ".activity", "standby")]
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
            has_island = device != "375x667"
            self.show(1)
            self.choose("Phone", device)
            lock_screen = [("Lock Screen", ".activity", "activity")]
            banner = [("Banner", ".notification", "notification")]
            for number, previews in {
                1: NOTIFICATION, 2: lock_screen + (ISLAND + STANDBY if has_island else banner),
                3: WIDGETS + ACCESSORIES + (STANDBY_VIEW if has_island else []), 4: CONTROL,
            }.items():
                self.show(number)
                expected = {title for title, _, _ in previews}
                self.assertEqual(set(self.titles()), expected, f"push {number} on {device}")
                for preview in previews:
                    self.assert_size(device, *preview)
        self.assertEqual(self.errors, [])

    def test_no_text_overflows_at_any_text_size(self):
        self.put_surfaces()
        state = {**LIVE_STATE, "headline": LONG, "subhead": LONG}
        self.open(alert(1, alert={"title": LONG, "subtitle": LONG, "body": LONG}, category="order"), activity(2, state),
                  of_type(3, "widgets", RELOAD, ".push-type.widgets"))
        overflowing = """device => [...device.querySelectorAll("[data-lines]")].filter(part => {
            const lines = part.offsetHeight / parseFloat(getComputedStyle(part).lineHeight)
            return lines > Number(part.dataset.lines) + 0.1 || part.scrollWidth > part.clientWidth + 1
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
        self.assert_size("393x852", "Lock Screen", ".notification", "notification")

    def test_truncated_text_is_marked_and_listed(self):
        self.open(alert(1, alert={"title": LONG, "body": LONG}), alert(2, alert={"title": "Ready", "body": "Tap to open."}))
        self.show(1)
        for title, lines in {"Lock Screen": 4, "Banner": 2, "Notification Center": 4}.items():
            figure = self.page.locator("figure", has=self.screen(title))
            expect(figure.locator(".cut-off")).to_have_count(2)
            card = self.screen(title).locator(".this .notification" if title == "Notification Center" else ".notification")
            body = card.locator(".body")
            self.assertEqual(self.evaluated(body, "body => Math.round(body.clientHeight / 20)"), lines, title)
            expect(card.locator(".title .cut")).to_be_visible()
            expect(body.locator(".cut")).to_be_visible()
            seen = self.evaluated(body, "body => body.firstChild.data")
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
            self.assert_size("393x852", "Lock Screen", f".{card}", card)
            for screen in self.page.locator(".previews .preview").all():
                box = self.box(screen)
                self.assertGreaterEqual(box["width"], 300)
                self.assertLessEqual(box["x"] + box["width"], 390)
            self.assertEqual(self.page.evaluate("document.documentElement.scrollWidth"), 390)
            self.page.keyboard.press("Escape")

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
