"""Every preview: its size on every phone, what it cuts off, its words, its light, and that it stays a picture."""

import json
import unittest
import urllib.request

from inbox_walk import HOSTILE, InboxWalk, push
from playwright.sync_api import expect

APP = "com.example.app"
# Widths and heights in points of Apple's Human Interface Guidelines, a range as (least, most). The 375 points of phones
# without an Island, notifications and controls have no size there: for these it is what phones show.
ACTIVITY = (84, 160)
SIZES = {
    "393x852": {
        "notification": (377, None), "activity": (371, ACTIVITY), "compact": (230, 36.67), "ear": (52.33, 36.67),
        "minimal": ((36.67, 45), 36.67), "expanded": (371, ACTIVITY), "standby": (742, (168, 320)), "small": (158, 158),
        "medium": (338, 158), "large": (338, 354), "circular": (72, 72), "rectangular": (160, 72), "inline": (234, 26),
        "wide": (156, 70), "round": (70, 70),
    },
    "430x932": {
        "notification": (414, None), "activity": (408, ACTIVITY), "compact": (250, 36.67), "ear": (62.33, 36.67),
        "minimal": ((36.67, 45), 36.67), "expanded": (408, ACTIVITY), "standby": (816, (168, 320)), "small": (170, 170),
        "medium": (364, 170), "large": (364, 382), "circular": (76, 76), "rectangular": (172, 76), "inline": (257, 26),
        "wide": (156, 70), "round": (70, 70),
    },
    "375x667": {
        "notification": (359, None), "activity": (353, ACTIVITY), "small": (148, 148), "medium": (321, 148),
        "large": (321, 324), "circular": (68, 68), "rectangular": (153, 68), "inline": (225, 26), "wide": (156, 70),
        "round": (70, 70),
    },
}
# What is measured in which preview: title of the frame, selector, row of the table.
NOTIFICATION = [(title, ".notification", "notification")
                for title in ("Lock Screen", "Banner", "Expanded", "Notification Center")]
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
BASE = {"schemaVersion": "5", "id": "order-17@3", "surfaceId": "order-17", "updatedAt": "2026-05-12T18:31:00Z", "state": "active"}
LINK = {"deepLink": "shop://orders/17"}
TOLD = {"title": "On its way", "body": "Two stops before you", "progress": 0.5, **LINK}
SLICES = {
    "widget": {**TOLD, "family": "systemMedium"}, "standby": TOLD,
    "lockAccessory": {"title": "On its way", "family": "accessoryCircular", "gaugeValue": 0.5, "shortText": "2 stops", **LINK},
    "control": {"label": "Ring the bell", "controlKind": "toggle", "state": True, **LINK},
}
LIVE_STATE = {"headline": "On its way", "subhead": "Two stops before you", "progress": 0.5, "stage": "inProgress"}


def of_type(number, push_type, payload, suffix=""):
    made = push(number, payload=payload)
    made["headers"] = {"apns-push-type": push_type, "apns-topic": APP + suffix}
    return made


def activity(number, state, **aps):
    content = {"aps": {"timestamp": number, "event": "update", "content-state": state, **aps}}
    return of_type(number, "liveactivity", content, ".push-type.liveactivity")


def alert(number, **aps):
    made = push(number, payload={"aps": aps})
    made["device-token"] = "5d3a6a1c"
    return made


RELOAD = {"aps": {"content-changed": True}}


class Previews(InboxWalk):
    def put(self, path, body, method="PUT"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        request = urllib.request.Request(self.simulator.url + "/api/v1/" + path, data, method=method)
        return urllib.request.urlopen(request).read()

    def put_surfaces(self):
        for kind, content in SLICES.items():
            self.put(f"surfaces/{APP}/{kind}", {**BASE, "kind": kind, kind: content})

    def show(self, number):
        self.page.locator(f"#push-{number}").click()
        expect(self.page.locator(".previews .apology")).to_be_visible()

    def choose(self, label, value):
        before = self.page.locator(".previews .apology").element_handle()
        self.page.get_by_label(label, exact=True).select_option(value)
        before.wait_for_element_state("hidden")
        expect(self.page.locator(".previews .apology")).to_be_visible()

    def screen(self, title):
        return self.page.frame_locator(f"iframe[title='{title}']")

    def box(self, title, selector):
        return self.screen(title).locator(selector).first.evaluate(
            "part => { const { width, height } = part.getBoundingClientRect(); return [width, height] }")

    def assert_size(self, device, title, selector, row):
        for measured, meant in zip(self.box(title, selector), SIZES[device][row]):
            if meant is None:
                continue
            least, most = meant if isinstance(meant, tuple) else (meant, meant)
            self.assertGreaterEqual(measured, least - 0.02, f"{title} {selector} on {device}")
            self.assertLessEqual(measured, most + 0.02, f"{title} {selector} on {device}")

    def titles(self):
        return self.page.locator(".previews iframe").evaluate_all("frames => frames.map(frame => frame.title)")

    def test_every_preview_has_apples_size(self):
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
                self.assertEqual(set(self.titles()), {title for title, _, _ in previews}, f"push {number} on {device}")
                for preview in previews:
                    self.assert_size(device, *preview)
        self.assertEqual(self.complaints, [])

    def test_nothing_sticks_out_at_any_size_of_text(self):
        self.put_surfaces()
        state = {**LIVE_STATE, "headline": LONG, "subhead": LONG}
        self.open(alert(1, alert={"title": LONG, "subtitle": LONG, "body": LONG}, category="order"), activity(2, state),
                  of_type(3, "widgets", RELOAD, ".push-type.widgets"))
        sticking = """root => [...root.querySelectorAll("[data-lines]")].filter(part => {
            const lines = part.getBoundingClientRect().height / parseFloat(getComputedStyle(part).lineHeight)
            const scale = part.closest(".standby") ? 2 : 1
            return lines / scale > Number(part.dataset.lines) + 0.1 || part.scrollWidth > part.clientWidth + 1
        }).map(part => part.className)"""
        for size in ("small", "large", "accessibility"):
            for number in (1, 2, 3):
                self.show(number)
                if number == 1:
                    self.choose("Text size", size)
                for title in self.titles():
                    screen = self.screen(title).locator(".screen")
                    expect(screen).to_have_attribute("data-text", size)
                    self.assertEqual(screen.evaluate(sticking), [], f"{title} at {size}")
        self.show(1)
        self.assertEqual(self.screen("Banner").locator(".body").evaluate("body => getComputedStyle(body).fontSize"), "25px")
        self.assert_size("393x852", "Lock Screen", ".notification", "notification")

    def test_what_is_cut_is_marked_and_told(self):
        self.open(alert(1, alert={"title": LONG, "body": LONG}), alert(2, alert={"title": "Ready", "body": "Tap to open."}))
        self.show(1)
        for title, lines in {"Lock Screen": 4, "Banner": 2, "Notification Center": 4}.items():
            figure = self.page.locator("figure", has=self.page.locator(f"iframe[title='{title}']"))
            expect(figure.locator(".cut-off")).to_have_count(2)
            card = self.screen(title).locator(".this .notification" if title == "Notification Center" else ".notification")
            body = card.locator(".body")
            self.assertEqual(body.evaluate("body => Math.round(body.clientHeight / 20)"), lines, title)
            expect(card.locator(".title .cut")).to_be_visible()
            expect(body.locator(".cut")).to_be_visible()
            seen = body.evaluate("body => body.firstChild.data")
            rest = figure.locator(".cut-off q").nth(1).inner_text()
            whole = "".join(LONG.split())
            self.assertEqual("".join((seen + rest).split()), whole, f"{title}: nothing is lost between the cut and the rest")
        expect(self.screen("Expanded").locator(".cut")).to_have_count(0)
        expect(self.screen("Expanded").locator(".body")).to_have_text(LONG)
        self.show(2)
        expect(self.page.locator(".cut-off")).to_have_count(0)
        expect(self.screen("Lock Screen").locator(".cut")).to_have_count(0)

    def test_a_push_lies_among_its_thread(self):
        other_device = alert(5, alert="elsewhere", **{"thread-id": "order-17"})
        other_device["device-token"] = "00c0ffee"
        thread = {"thread-id": "order-17"}
        self.open(alert(1, alert="first", **thread), alert(2, alert="second", **thread), alert(3, alert="third", **thread),
                  alert(4, alert="apart"), other_device)
        self.show(2)
        center = self.screen("Notification Center")
        expect(center.locator(".stack .body")).to_have_text("third")
        expect(center.locator(".behind")).to_have_count(2)
        expect(center.locator(".one .body")).to_have_text(["third", "second", "first"])
        expect(center.locator(".this .body")).to_have_text("second")
        self.show(4)
        expect(center.locator(".body")).to_have_text(["apart"])
        expect(center.locator(".behind")).to_have_count(0)

    def test_localized_alerts_speak_the_chosen_language(self):
        keys = {"title-loc-key": "READY", "title-loc-args": ["Anna"], "loc-key": "STOPS", "loc-args": ["1", "Zoo"]}
        self.open(alert(1, alert=keys), alert(2, alert={"loc-key": "NOBODY", "loc-args": ["7"]}))
        expect(self.page.locator("#push-1 .headline")).to_have_text("⟨READY Anna⟩")
        self.show(1)
        title, body = (self.screen("Lock Screen").locator(part) for part in (".title", ".body"))
        expect(title).to_have_class("title unresolved")
        expect(self.page.locator(".no-words").first).to_contain_text("title-loc-key READY")
        self.put(f"strings/{APP}/en", '"READY" = "%@, your order is ready";\n"STOPS" = "%2$@: %1$@ stops, 100 %%";')
        expect(title).to_have_text("Anna, your order is ready")
        expect(body).to_have_text("Zoo: 1 stops, 100 %")
        expect(self.page.locator("#push-1 .headline")).to_have_text("Anna, your order is ready")
        plural = {"one": "%@ Halt bis %@", "other": "%@ Halte bis %@"}
        forms = {"variations": {"plural": {name: {"stringUnit": {"value": text}} for name, text in plural.items()}}}
        ready = {"localizations": {"de": {"stringUnit": {"value": "Fertig, %@"}}}}
        self.put(f"strings/{APP}", {"sourceLanguage": "en", "strings": {"READY": ready, "STOPS": {"localizations": {"de": forms}}}})
        self.page.get_by_label("Language").select_option("de")
        expect(title).to_have_text("Fertig, Anna")
        expect(body).to_have_text("1 Halt bis Zoo")
        expect(self.page.locator("#push-1 .headline")).to_have_text("Fertig, Anna")
        self.show(2)
        expect(self.screen("Lock Screen").locator(".body.unresolved")).to_have_text("NOBODY 7")

    def test_live_activities_are_laid_out(self):
        ride = {"driver": {"name": "Anna"}, "status": "Arriving", "minutes": 5, "progress": 0.8}
        start = activity(2, ride, event="start", **{"attributes-type": "Ride", "attributes": {"line": 7}})
        self.open(activity(1, LIVE_STATE), start)
        self.show(1)
        card = self.screen("Lock Screen")
        expect(card.locator(".title")).to_have_text("On its way")
        expect(card.locator("progress")).to_have_attribute("value", "0.5")
        expect(self.screen("Dynamic Island compact").locator(".trailing")).to_have_text("50 %")
        self.show(2)
        expect(card.locator(".title")).to_have_text("Arriving")
        expect(card.locator(".trailing")).to_have_text("5 min")
        self.put(f"templates/{APP}/Ride", {
            "lock": {"title": "{{driver.name}} on line {{attributes.line}}", "subtitle": "{{driver.age}}", "progress": "4/5"},
            "island": {"compact-trailing": "{{minutes}}'", "minimal": "{{minutes}}"}, "widget": {"title": "{{status}}"},
            "accessory": {"title": "{{status}}", "progress": "{{progress}}"}})
        expect(card.locator(".title")).to_have_text("Anna on line 7")
        expect(card.locator("progress")).to_have_attribute("value", "0.8")
        expect(self.screen("Dynamic Island compact").locator(".trailing")).to_have_text("5'")
        expect(self.screen("Widget").locator(".title")).to_have_text("Arriving")
        expect(self.screen("Accessory").locator(".title")).to_have_text("Arriving")
        expect(self.page.locator(".note-below").nth(1)).to_have_text("The state has no driver.age.")
        for title, row in {"Widget": "small", "Accessory": "rectangular"}.items():
            self.assert_size("393x852", title, f".{row}", row)

    def test_reloads_say_what_is_missing_and_show_what_is_stored(self):
        self.open(of_type(1, "controls", RELOAD, ".push-type.controls"), of_type(2, "widgets", RELOAD, ".push-type.widgets"))
        self.show(1)
        expect(self.page.locator(".reload")).to_contain_text(f"PUT /api/v1/surfaces/{APP}/control")
        self.put_surfaces()
        control = self.screen("Control").locator(".control.wide")
        expect(control.locator(".title")).to_have_text("Ring the bell")
        expect(control.locator(".foot")).to_have_text("On")
        expect(self.page.locator(".reload")).to_contain_text("Reload requested")
        self.show(2)
        expect(self.screen("Widget medium").locator(".title")).to_have_text("On its way")
        expect(self.screen("Accessory circular").locator(".word")).to_have_text("2 stops")
        expect(self.screen("Accessory circular").locator(".share")).to_have_attribute("stroke-dasharray", "50 100")
        night = self.screen("StandBy night").locator(".activity .title")
        self.assertEqual(night.evaluate("title => getComputedStyle(title).color"), "rgb(255, 69, 58)")

    def test_the_choices_are_kept_and_darkness_is_dark(self):
        self.open(alert(1, alert="Ready"))
        self.show(1)
        ink = "body => getComputedStyle(body).color"
        body = self.screen("Lock Screen").locator(".body")
        self.assertEqual(body.evaluate(ink), "rgb(0, 0, 0)")
        self.choose("Appearance", "dark")
        self.choose("Phone", "430x932")
        self.assertEqual(body.evaluate(ink), "rgb(255, 255, 255)")
        self.page.reload()
        self.show(1)
        expect(self.page.get_by_label("Appearance")).to_have_value("dark")
        self.assert_size("430x932", "Lock Screen", ".notification", "notification")

    def test_a_hostile_payload_stays_a_picture(self):
        evil = {"title": HOSTILE, "subtitle": HOSTILE, "body": HOSTILE * 20}
        state = {"headline": HOSTILE, "subhead": HOSTILE, "progress": HOSTILE, "stage": HOSTILE, "__proto__x": HOSTILE}
        for kind, content in SLICES.items():
            name = "label" if kind == "control" else "title"
            self.put(f"surfaces/{APP}/{kind}", {**BASE, "kind": kind, kind: {**content, name: HOSTILE}})
        self.put(f"strings/{APP}", {"sourceLanguage": "en", "strings": {HOSTILE: {}}})
        self.put(f"templates/{APP}/Evil", {"lock": {"title": "{{constructor.name}} {{__proto__}} {{evil}}" + HOSTILE}})
        self.open(
            alert(1, alert=evil, category=HOSTILE, **{"thread-id": HOSTILE}), alert(2, alert={"title-loc-key": HOSTILE, "loc-args": [HOSTILE]}),
            activity(3, state), activity(4, {"evil": HOSTILE}, event="start", **{"attributes-type": "Evil", "attributes": {}}),
            of_type(5, "widgets", RELOAD, ".push-type.widgets"), of_type(6, "controls", RELOAD, ".push-type.controls"),
            alert(7, alert=[HOSTILE]), alert(8, alert={"title": 7, "loc-key": "__proto__"}), activity(9, HOSTILE),
            alert(10, alert="x", badge=HOSTILE))
        seen = 0
        for number in range(1, 11):
            self.show(number)
            for title in self.titles():
                screen = self.screen(title)
                self.assertEqual(screen.locator("script, img, [onerror]").count(), 0, f"{title} of push {number}")
                frame = self.page.locator(f"iframe[title='{title}']")
                self.assertEqual(frame.get_attribute("sandbox"), "")
                seen += 1
        self.assertGreater(seen, 40)
        self.assertIsNone(self.page.evaluate("window.hacked ?? null"))
        self.assertEqual(self.page.locator("#detail :is(img, script)").count(), 0)
        self.assertEqual(self.complaints, [])


if __name__ == "__main__":
    unittest.main()
