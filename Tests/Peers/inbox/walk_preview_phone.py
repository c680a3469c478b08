# SPDX-License-Identifier: Apache-2.0

"""Previews tell what the phone does: the verdict, the choice of a surface, sound, badge, actions, senders, and directions."""

import json
import unittest

from inbox_walk import push
from playwright.sync_api import expect
from preview_walk import LIVE_STATE, RELOAD, PreviewWalk, activity, alert, of_type

SURFACES = ["Lock Screen", "Banner", "Expanded", "Notification Center", "Home Screen", "Summary", "Apple Watch", "CarPlay", "Mac"]
REGISTRY = {"schemaVersion": "1", "categories": [
    {"id": "order", "description": "An order.", "actions": [
        {"id": "come", "title": "I am coming"}, {"id": "cancel", "title": "Cancel", "options": {"destructive": True}}]},
    {"id": "news", "description": "News.", "actions": [{"id": "read", "title": "Read"}]}]}


def message(number, payload, **aps):
    made = push(number, payload={"aps": {"alert": {"title": "Family", "body": "Who brings the candles?"}, **aps}, **payload})
    made["headers"]["apns-topic"] = "com.example.chat"
    return made


class PreviewPhone(PreviewWalk):
    def radio(self, name):
        return self.page.get_by_role("radio", name=name, exact=True)

    def select(self, number):
        """Selects a push without choosing all surfaces."""
        self.page.locator(f"#push-{number}").click()
        self.wait_until_drawn(number)

    def fact(self, name):
        return self.page.locator(".preview-facts dt", has_text=name).locator("xpath=following-sibling::dd[1]")

    def answer_with_verdicts(self, verdicts):
        """Adds verdicts to the pushes in the simulator's answers, by number."""
        def add(value):
            if isinstance(value, dict):
                if value.get("number") in verdicts and "headers" in value:
                    value["verdict"] = verdicts[value["number"]]
                for each in value.values():
                    add(each)
            elif isinstance(value, list):
                for each in value:
                    add(each)

        def answer(route):
            response = route.fetch()
            value = json.loads(response.body())
            add(value)
            route.fulfill(response=response, body=json.dumps(value))

        self.page.route(lambda url: "/api/v1/pushes" in url and not url.endswith("/payload"), answer)

    def test_previews_obey_the_verdict(self):
        texts = {
            "shown": None,
            "delivered": "Nothing of it is visible on the phone: Delivered · no banner (aps.alert has no text)."
                         " This is how it would look if the phone showed it.",
            "not-shown": "Not shown on the phone: older than the content on screen."
                         " The phone ignored it: its content below was never on the screen.",
            "stored": "Not shown on the phone yet: Stored · device is offline. This is how it will look if the phone shows it.",
            "replaced": "No longer shown on the phone: Replaced by push 9. This is how it looked.",
            "refused": "Not shown on the phone: Refused: 410 Unregistered. This is how it would look if the phone showed it.",
        }
        sent = {"not-shown": "Not shown: older than the content on screen", "stored": "Stored · device is offline.",
                "replaced": "Replaced by push 9", "refused": "Refused: 410 Unregistered",
                "delivered": "Delivered · no banner (aps.alert has no text)"}
        self.answer_with_verdicts({number: {"kind": kind, "text": sent.get(kind, "Delivered")}
                                   for number, kind in enumerate(texts, 1)})
        self.open(*[alert(number, alert="Ready") for number in range(1, len(texts) + 1)])
        for number, (kind, text) in enumerate(texts.items(), 1):
            self.select(number)
            note = self.page.locator(".previews > .verdict")
            if text is None:
                expect(note).to_have_count(0)
            else:
                expect(note).to_have_text(text)
            expect(self.screen("Lock Screen").locator(".body")).to_have_text("Ready")
            opacity = lambda: float(self.evaluated(self.screen("Lock Screen"), "screen => getComputedStyle(screen).opacity"))
            self.wait_until(lambda: opacity() == 1 if text is None else opacity() < 0.7, f"{kind}: {opacity()}")

    def test_a_stored_push_that_the_phone_will_ignore_has_no_look(self):
        text = "Stored for 1 of 1 activity · the phone will ignore it (a broadcast cannot start an activity)"
        self.answer_with_verdicts({1: {"kind": "stored", "text": text, "will-be-ignored": True}})
        self.open(alert(1, alert="Ready"))
        self.select(1)
        expect(self.page.locator(".previews > .verdict")).to_have_text(f"Not shown on the phone: {text}. The phone will not show it.")

    def test_refused_and_unanswered_pushes_are_not_drawn_as_shown(self):
        refused, unanswered = alert(1, alert="Ready"), alert(2, alert="Ready")
        refused.update(status=410, reason="Unregistered")
        unanswered.update(status=0)
        self.open(refused, unanswered)
        for number in (1, 2):
            self.select(number)
            expect(self.page.locator(".previews > .verdict")).to_contain_text("Not shown on the phone")
            expect(self.page.locator(".previews[data-muted]")).to_be_visible()

    def test_one_surface_is_chosen_by_keyboard_and_remembered(self):
        self.open(alert(1, alert="Ready"), alert(2, alert="Soon"), activity(3, LIVE_STATE))
        self.select(1)
        self.assertEqual(self.titles(), ["Lock Screen"])
        self.radio("Lock Screen").focus()
        self.page.keyboard.press("ArrowRight")
        expect(self.screen("Banner")).to_be_visible()
        expect(self.radio("Banner")).to_be_focused()
        self.page.keyboard.press("End")
        expect(self.page.locator(".wall .preview")).to_have_count(len(SURFACES))
        self.assertEqual(self.titles(), SURFACES)
        expect(self.page.get_by_role("radiogroup", name="Surface")).to_be_visible()
        self.page.keyboard.press("ArrowLeft")
        expect(self.screen("Mac")).to_be_visible()
        self.page.reload()
        self.select(2)
        self.assertEqual(self.titles(), ["Mac"])
        # The choice for notifications is not that for Live Activities.
        self.select(3)
        self.assertEqual(self.titles(), ["Lock Screen"])
        self.radio("Minimal").click()
        expect(self.screen("Dynamic Island minimal").locator(".minimal")).to_be_visible()

    def test_interruption_levels(self):
        level = "interruption-level"
        self.open(*[alert(number, alert="Ready", **{level: value}, sound="default")
                    for number, value in enumerate(["passive", "time-sensitive", "critical", "timeSensitive"], 1)], alert(5, alert="Ready"))
        self.show(1)
        expect(self.screen("Banner").locator(".notification")).to_have_count(0)
        expect(self.page.locator("figure", has=self.screen("Banner"))).to_contain_text("No banner: the interruption level is passive.")
        expect(self.screen("Mac").locator(".notification")).to_have_count(0)
        expect(self.screen("Lock Screen").locator(".notification")).to_have_count(1)
        expect(self.screen("Summary").locator(".digest")).to_have_count(1)
        expect(self.fact("Sound")).to_have_text("no sound (aps.interruption-level is passive)")
        for number, label in {2: "Time Sensitive", 3: "Critical"}.items():
            self.show(number)
            for title in ("Lock Screen", "Banner", "Expanded", "Apple Watch"):
                expect(self.screen(title).locator(".label")).to_have_text(label)
            expect(self.screen("Summary").locator(".digest")).to_have_count(0)
        for number, text in {4: "active: lights the screen (aps.interruption-level is not a level)",
                             5: "active: lights the screen (aps.interruption-level is missing)"}.items():
            self.show(number)
            expect(self.screen("Lock Screen").locator(".label")).to_have_count(0)
            expect(self.fact("Interruption")).to_have_text(text)

    def test_sound_and_badge(self):
        critical = {"critical": 1, "name": "alarm.caf", "volume": 0.7}
        cases = [
            ({"sound": "default", "badge": 3}, "default sound", "badge 3"), ({"badge": 0}, "no sound (aps.sound is missing)", "badge removed"),
            ({"sound": critical}, "sound alarm.caf at 70 % of the volume", "badge unchanged (aps.badge is missing)"),
            ({"sound": "bell.caf", "badge": "3"}, "sound bell.caf", "badge unchanged (aps.badge is not a whole number)"),
            ({"sound": {"critical": 0, "name": "default"}, "badge": -1}, "default sound", "badge unchanged (aps.badge is below 0)"),
            ({"sound": 1}, "no sound (aps.sound is neither a string nor an object)", "badge unchanged"),
            ({"sound": {"name": "default", "volume": 0}}, "no sound (aps.sound.volume is 0)", "badge unchanged"),
        ]
        self.open(*[alert(number, alert="Ready", **aps) for number, (aps, _, _) in enumerate(cases, 1)])
        for number, (aps, sound, badge) in enumerate(cases, 1):
            self.show(number)
            expect(self.fact("Sound")).to_contain_text(sound)
            expect(self.fact("Badge")).to_contain_text(badge)
            expect(self.screen("Home Screen").locator(".badge")).to_have_text(["3"] if aps.get("badge") == 3 else [])

    def test_actions_are_named_by_the_user_or_a_registry(self):
        self.open(alert(1, alert="Ready", category="order"), alert(2, alert="Ready", category="news"), alert(3, alert="x", category="surface-update"))
        self.show(1)
        actions = self.screen("Expanded").locator(".actions > div")
        expect(actions).to_have_text(["Actions of order"])
        expect(self.page.locator("figure", has=self.screen("CarPlay"))).to_contain_text("Not shown in CarPlay")
        text = self.page.get_by_label("Actions of order")
        text.fill("I am coming\n!Cancel\n\n")
        self.page.get_by_label("Allowed in CarPlay").check()
        self.page.get_by_role("button", name="Store the actions").click()
        expect(actions).to_have_text(["I am coming", "Cancel"])
        expect(actions.nth(1)).to_have_class(" destructive")
        expect(self.screen("Apple Watch").locator(".key")).to_have_text(["I am coming", "Cancel", "Dismiss"])
        expect(self.screen("CarPlay").locator(".title")).to_have_text("App")
        self.page.reload()
        self.show(1)
        expect(actions).to_have_text(["I am coming", "Cancel"])
        self.show(2)
        self.page.get_by_label("Actions of news").fill("{")
        self.page.get_by_role("button", name="Store the actions").click()
        expect(self.page.get_by_role("alert").filter(has_text="This is not the JSON")).to_be_visible()
        self.page.get_by_label("Actions of news").fill(json.dumps(REGISTRY))
        self.page.get_by_role("button", name="Store the actions").click()
        expect(actions).to_have_text(["Read"])
        self.show(3)
        expect(self.page.locator("figure", has=self.screen("Expanded"))).to_contain_text("The category surface-update has no actions.")

    def test_senders_and_attachments_need_a_service_extension(self):
        more = {"sender": {"name": "Anna Berg", "avatar": "https://x.example/a.png"}, "media": {"url": "https://x.example/cake%20top.jpg"},
                "link": "https://x.example/orders/17", "clip": "https://x.example/a/b.mp4?x=1"}
        self.open(message(1, more, **{"mutable-content": 1}), message(2, more))
        self.show(1)
        card = self.screen("Expanded").locator(".notification")
        expect(card.locator(".title")).to_have_text("Anna Berg")
        expect(card.locator(".subtitle")).to_have_text("Family")
        expect(card.locator(".avatar")).to_have_text("AB")
        expect(card.locator(".attachment")).to_have_text("cake top.jpg")
        expect(self.screen("Banner").locator(".thumbnail")).to_have_count(1)
        expect(self.fact("Sender")).to_contain_text("Anna Berg (payload/sender), if the service extension donates")
        expect(self.fact("Attachment").locator("div")).to_have_count(2)
        expect(self.fact("Attachment")).to_contain_text("b.mp4 (video, payload/clip)")
        self.show(2)
        expect(card.locator(".title")).to_have_text("Family")
        expect(card.locator(".avatar, .attachment")).to_have_count(0)
        expect(self.fact("Sender")).to_contain_text("Not drawn: aps.mutable-content is missing")
        expect(self.fact("Attachment")).to_contain_text("Not drawn: aps.mutable-content is missing")
        self.assertEqual([each.url for each in self.requests if "x.example" in each.url], [])

    def test_right_to_left_texts_have_their_punctuation_on_the_left(self):
        self.open(alert(1, alert={"title": "Order 17.", "body": "مرحبا بكم."}), alert(2, alert={"title": "مرحبا بكم.", "body": "Tap."}))
        # Whether the last character is drawn to the left of the first one.
        is_mirrored = """part => {
            const text = document.createTreeWalker(part, NodeFilter.SHOW_TEXT).nextNode()
            const at = (index) => {
                const range = document.createRange()
                range.setStart(text, index)
                range.setEnd(text, index + 1)
                return range.getBoundingClientRect().left
            }
            return at(text.length - 1) < at(0)
        }"""
        for number, expected in {1: (False, True), 2: (True, False)}.items():
            self.select(number)
            card = self.screen("Lock Screen").locator(".notification")
            self.assertEqual(tuple(self.evaluated(card.locator(part), is_mirrored) for part in (".title", ".body")), expected)
            self.assertEqual(self.evaluated(self.page.locator("#detail h2"), is_mirrored), expected[0])
            # A text is aligned by its own direction, and the phone keeps that of its language.
            icon, text = (self.box(card.locator(part).first)["x"] for part in (".icon", ".text"))
            self.assertLess(icon, text)
        self.choose("Language", "ar")
        expect(self.screen("Lock Screen").locator(".device")).to_have_attribute("dir", "rtl")
        icon, text = (self.box(card.locator(part).first)["x"] for part in (".icon", ".text"))
        self.assertGreater(icon, text)

    def test_the_phone_looks_as_documented(self):
        self.open(alert(1, alert={"title": "Ready", "body": "Tap to open."}))
        self.select(1)
        style = lambda part, name: self.evaluated(self.screen("Lock Screen").locator(part).first,
            f"part => getComputedStyle(part).getPropertyValue('{name}')")
        self.assertEqual(style(".clock", "font-size"), "88px")
        self.assertEqual(style(".date", "font-size"), "17px")
        for part, radius in {".notification": "37px", ".notification .icon": "14px"}.items():
            self.assertEqual(style(part, "border-top-left-radius"), radius)
            self.assertIn(style(part, "corner-top-left-shape"), ("squircle", "superellipse(2)"))
        self.assertEqual(style(".notification", "background-color"), "rgba(255, 255, 255, 0.4)")
        self.assertIn("blur(20px)", style(".notification", "backdrop-filter"))
        self.assertTrue(style(".device", "font-family").startswith("-apple-system"))
        self.assertEqual(style(".device", "font-variant-numeric"), "tabular-nums")
        expect(self.screen("Lock Screen").locator(".status svg")).to_have_count(4)
        for part in (".shortcuts svg", ".indicator"):
            self.assertGreater(self.screen("Lock Screen").locator(part).count(), 0)
        date, clock, card, shortcuts = (self.box(self.screen("Lock Screen").locator(part))["y"]
                                        for part in (".date", ".clock", ".notification", ".shortcuts"))
        self.assertTrue(date < clock < card < shortcuts)
        expect(self.page.locator(".disclaimer")).to_contain_text("Approximation")

    def test_widgets_are_tinted_and_clear_beside_full_colour(self):
        self.put_surfaces()
        self.open(of_type(1, "widgets", RELOAD, ".push-type.widgets"))
        self.show(1)
        cells = self.screen("Widget small").locator(".widget-cell")
        expect(cells.locator("> span")).to_have_text(["Full colour", "Tinted", "Clear"])
        colors = cells.locator(".title").evaluate_all("all => all.map(each => getComputedStyle(each).color)")
        self.assertEqual(len(set(colors)), 3)

    def test_selecting_another_push_is_quick_and_leaves_no_gap(self):
        body = "Tap to open the order and see where to collect it. " * 8
        self.open(*[alert(number, alert={"title": f"Order {number}", "body": body}) for number in range(1, 31)])
        self.select(30)
        session = self.context.new_cdp_session(self.page)
        # The processor time of the page's thread, which does not depend on what else the machine does.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def busy():
            metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
            return 1000 * sum(metrics[f"{name}Duration"] for name in ("Script", "RecalcStyle", "Layout"))

        before = busy()
        gaps = self.page.evaluate("""async () => {
            let gaps = 0
            for (let number = 29; number > 9; number -= 1) {
                document.querySelector("#list").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }))
                for (let drawn = null; !drawn;) {
                    await new Promise(requestAnimationFrame)
                    if (!document.querySelector(".previews .preview")) gaps += 1
                    drawn = document.querySelector(`.previews[data-number="${number}"][aria-busy=false]`)
                }
            }
            return gaps
        }""")
        each = (busy() - before) / 20
        self.assertEqual(gaps, 0)
        self.assert_fast("scripts, style and layout of a selected push", each / 1000, 0.05)


if __name__ == "__main__":
    unittest.main()
