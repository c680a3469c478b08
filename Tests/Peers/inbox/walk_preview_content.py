# SPDX-License-Identifier: Apache-2.0

"""The content of previews: threads, localized strings, Live Activity layouts, stored surfaces and hostile payloads."""

import unittest

from inbox_walk import HOSTILE
from playwright.sync_api import expect
from preview_walk import APP, BASE, LIVE_STATE, RELOAD, SLICES, PreviewWalk, activity, alert, of_type


# The elements of a screen that could load or run something: only text, shapes and progress bars may be in it.
CONTENT = """device => [...device.querySelectorAll("*")].filter(each =>
    !["DIV", "SPAN", "I", "STRONG", "B", "PROGRESS", "BUTTON", "svg", "path", "circle"].includes(each.tagName)
    || [...each.attributes].some(({ name }) => name.startsWith("on") || ["href", "src"].includes(name))).map(each => each.outerHTML)"""


class PreviewContent(PreviewWalk):
    def test_notification_center_shows_the_thread(self):
        other_device = alert(5, alert="elsewhere", **{"thread-id": "order-17"})
        other_device["device-token"] = "00c0ffee"
        thread = {"thread-id": "order-17"}
        self.open(alert(1, alert="first", **thread), alert(2, alert="second", **thread), alert(3, alert="third", **thread),
                  alert(4, alert="apart"), other_device)
        self.show(2)
        center = self.screen("Notification Center")
        expect(center.locator(".stack .body")).to_have_text("third")
        expect(center.locator(".behind")).to_have_count(2)
        expect(center.locator(".one")).to_have_count(0)
        toggle = center.get_by_role("button")
        expect(toggle).to_have_attribute("aria-label", "Show the 3 notifications")
        toggle.focus()
        self.page.keyboard.press("Enter")
        expect(center.locator(".one .body")).to_have_text(["third", "second", "first"])
        expect(center.locator(".this .body")).to_have_text("second")
        expect(center.locator(".stack")).to_have_count(0)
        expect(toggle).to_be_focused()
        toggle.click()
        expect(center.locator(".stack .body")).to_have_text("third")
        self.show(4)
        expect(center.locator(".body")).to_have_text(["apart"])
        expect(center.locator(".behind")).to_have_count(0)

    def test_localized_alerts_use_the_selected_language(self):
        keys = {"title-loc-key": "READY", "title-loc-args": ["Anna"], "loc-key": "STOPS", "loc-args": ["1", "Zoo"]}
        self.open(alert(1, alert=keys), alert(2, alert={"loc-key": "UNKNOWN", "loc-args": ["7"]}))
        expect(self.page.locator("#push-1 .headline")).to_have_text("⟨READY Anna⟩")
        self.show(1)
        title, body = (self.screen("Lock Screen").locator(part) for part in (".title", ".body"))
        expect(title).to_have_class("title unresolved")
        expect(self.page.locator(".missing-string").first).to_contain_text("title-loc-key READY")
        self.put(f"strings/{APP}/en", '"READY" = "%@, your order is ready";\n"STOPS" = "%2$@: %1$@ stops, 100 %%";')
        expect(title).to_have_text("Anna, your order is ready")
        expect(body).to_have_text("Zoo: 1 stops, 100 %")
        expect(self.page.locator("#push-1 .headline")).to_have_text("Anna, your order is ready")
        plural = {"one": "%@ Halt bis %@", "other": "%@ Halte bis %@"}
        forms = {"variations": {"plural": {name: {"stringUnit": {"value": text}} for name, text in plural.items()}}}
        ready = {"localizations": {"de": {"stringUnit": {"value": "Fertig, %@"}}}}
        self.put(f"strings/{APP}", {"sourceLanguage": "en", "strings": {"READY": ready, "STOPS": {"localizations": {"de": forms}}}})
        self.page.get_by_label("Language", exact=True).select_option("de")
        expect(title).to_have_text("Fertig, Anna")
        expect(body).to_have_text("1 Halt bis Zoo")
        expect(self.page.locator("#push-1 .headline")).to_have_text("Fertig, Anna")
        self.show(2)
        expect(self.screen("Lock Screen").locator(".body.unresolved")).to_have_text("UNKNOWN 7")
        notes = self.page.locator(".missing-string")
        expect(notes).to_have_text(["UNKNOWN has no string in de", "UNKNOWN has no string in en"])
        self.put(f"strings/{APP}/fr", '"UNKNOWN" = "%@ sur %@";')
        expect(notes.last).to_have_text("UNKNOWN in fr needs 2 arguments, and the push has 1")

    def test_the_phone_has_the_language_of_the_setting(self):
        self.put("strings/com.example.app/ar", '"READY" = "جاهز.";')
        self.put("strings/com.example.app/de", '"READY" = "Fertig.";')
        self.open(alert(1, alert={"title-loc-key": "READY", "body": "Tap."}), of_type(2, "controls", RELOAD, ".push-type.controls"))
        self.put_surfaces()
        self.show(1)
        note = self.page.locator(".missing-string")
        expect(note).to_contain_text("The app has no strings in English")
        part = lambda title, selector: self.screen(title).locator(selector)
        expected = {
            "en": ("Wednesday, November 18", "Notification Center", "Summary", "now", "ltr"),
            "de": ("Mittwoch, 18. November", "Mitteilungszentrale", "Übersicht", "jetzt", "ltr"),
            "ar": ("الأربعاء، 18 نوفمبر", "مركز الإشعارات", "الملخص", "الآن", "rtl"),
            "ja": ("11月18日水曜日", "通知センター", "要約", "今", "ltr"),
        }
        for language, (day, center, summary, age, direction) in expected.items():
            self.choose("Language", language)
            expect(part("Lock Screen", ".date")).to_have_text(day)
            expect(part("Notification Center", ".heading")).to_have_text(center)
            expect(part("Summary", ".digest-head strong")).to_have_text(summary)
            expect(part("Lock Screen", ".when")).to_have_text(age)
            expect(part("Lock Screen", ".device")).to_have_attribute("dir", direction)
        self.choose("Language", "de")
        expect(part("Lock Screen", ".title")).to_have_text("Fertig.")
        expect(note).to_have_count(0)
        self.put("strings/com.example.app/Base", '"READY" = "Development.";')
        self.choose("Language", "ja")
        expect(part("Lock Screen", ".title")).to_have_text("Development.")
        expect(note).to_have_count(0)
        self.choose("Language", "de")
        self.assertEqual(len(self.page.get_by_label("Language").locator("option", has_text="German").all()), 1)
        self.show(2)
        expect(part("Control", ".foot")).to_have_text("Ein")

    def test_paired_devices_show_the_compact_presentation(self):
        self.open(activity(1, LIVE_STATE), activity(2, LIVE_STATE, event="end"))
        self.show(1)
        for title in ("Smart Stack", "CarPlay", "Mac", "Dynamic Island landscape"):
            expect(self.screen(title).locator(".leading")).to_have_text("Live")
            expect(self.screen(title).locator(".leading ~ .trailing")).to_have_text("50 %")
        self.show(2)
        self.assertEqual(self.titles(), ["Lock Screen", "StandBy", "StandBy at night", "Smart Stack", "Mac"])

    def test_live_activity_layouts(self):
        ride = {"driver": {"name": "Anna"}, "status": "Arriving", "minutes": 5, "progress": 0.8}
        start = activity(2, ride, event="start", **{"attributes-type": "Ride", "attributes": {"line": 7}})
        self.open(activity(1, LIVE_STATE), start)
        self.show(1)
        card = self.screen("Lock Screen")
        expect(card.locator(".title")).to_have_text("On its way")
        expect(card.locator("progress")).to_have_attribute("value", "0.5")
        expect(self.screen("Dynamic Island compact").locator(".trailing")).to_have_text("50 %")
        self.choose("Appearance", "light")
        # StandBy is dark in every appearance.
        colors = [self.evaluated(self.screen("StandBy").locator(part), "part => getComputedStyle(part).color") for part in (".title", ".trailing")]
        self.assertEqual(colors, ["rgb(255, 255, 255)"] * 2)
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
        expect(self.screen("Widget").locator(".title")).to_have_text(["Arriving"] * 3)
        expect(self.screen("Accessory").locator(".title")).to_have_text("Arriving")
        expect(self.page.locator(".note-below").nth(1)).to_have_text("The content state has no driver.age.")
        for title, row in {"Widget": "small", "Accessory": "rectangular"}.items():
            self.assert_size("402x874", title, f".{row}", row)

    def test_only_values_of_a_push_are_drawn_and_its_alert_is_listed(self):
        self.open(activity(1, {"driver": "Anna"}, event="end", alert={"title": "Your ride", "body": "Anna is here."}), activity(2, {}))
        self.show(1)
        expect(self.screen("Lock Screen").locator(".title")).to_have_text("Anna")
        expect(self.page.locator("#detail h2")).to_have_text("Your ride")
        expect(self.screen("Lock Screen").locator(".trailing")).to_have_count(0)
        facts = self.page.get_by_role("complementary", name="Alert")
        expect(facts).to_contain_text("Your ride")
        expect(facts).to_contain_text("Anna is here.")
        self.show(2)
        expect(facts).to_have_count(0)
        expect(self.page.locator("figure", has=self.screen("Lock Screen"))).to_contain_text("The push has no value to draw.")

    def test_reloads_show_stored_surfaces_and_report_missing_ones(self):
        self.open(of_type(1, "controls", RELOAD, ".push-type.controls"), of_type(2, "widgets", RELOAD, ".push-type.widgets"))
        self.show(1)
        expect(self.page.locator(".reload")).to_contain_text(f"PUT /api/v1/surfaces/{APP}/control")
        self.put_surfaces()
        control = self.screen("Control").locator(".control.wide")
        expect(control.locator(".title")).to_have_text("Ring the bell")
        expect(control.locator(".foot")).to_have_text("On")
        expect(self.page.locator(".reload")).to_contain_text("Reload requested")
        self.show(2)
        expect(self.screen("Widget medium").locator(".title")).to_have_text(["On its way"] * 3)
        expect(self.screen("Accessory circular").locator(".word")).to_have_text("2 stops")
        expect(self.screen("Accessory circular").locator(".share")).to_have_attribute("stroke-dasharray", "50 100")
        night = self.screen("StandBy night").locator(".activity .title")
        self.assertEqual(self.evaluated(night, "title => getComputedStyle(title).color"), "rgb(255, 69, 58)")

    def test_a_hostile_payload_is_shown_as_text(self):
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
        count = 0
        for number in range(1, 11):
            self.show(number)
            for title in self.titles():
                screen = self.screen(title)
                found = self.evaluated(screen.locator(".device"), CONTENT)
                self.assertEqual(found, [], f"{title} of push {number}")
                count += 1
        self.assertGreater(count, 40)
        self.assertIsNone(self.page.evaluate("window.hacked ?? null"))
        self.assertEqual(self.page.locator("#detail :is(img, script)").count(), 0)


if __name__ == "__main__":
    unittest.main()
