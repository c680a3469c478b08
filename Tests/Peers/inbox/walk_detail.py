# SPDX-License-Identifier: Apache-2.0

"""The selected push: its header, views, comparison, replay, files and uploads."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from browser import MARTLET, PATIENCE
from inbox_walk import HOSTILE, InboxWalk, Simulator, push
from playwright.sync_api import expect

PHONE = "5d3a6a1c8f9a42d6"
ACTIVITY = "ab" * 16


def alert(number, **more):
    return push(number, **{"device-token": PHONE, **more})


def activity(timestamp, **more):
    payload = {"aps": {"timestamp": timestamp, "event": "update", "content-state": {"status": "On its way"}, **more}}
    headers = {"apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"}
    return {"device-token": ACTIVITY, "headers": headers, "payload-text": json.dumps(payload)}


class DetailWalk(InboxWalk):
    def setUp(self):
        super().setUp()
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.detail = self.page.locator("#detail")

    def show(self, number):
        self.page.goto(f"{self.simulator.url}/#/push/{number}")
        expect(self.detail.locator("h2")).to_be_visible()

    def choose(self, menu, item):
        self.detail.get_by_role("button", name=menu, exact=True).click()
        self.detail.get_by_role("menuitem", name=item).click()

    def copied(self, item):
        return self.copied_by(lambda: self.choose("Copy", item))


class Views(DetailWalk):
    def test_the_header_stays_and_shows_the_time_with_milliseconds_and_zone(self):
        self.open(alert(1))
        self.show(1)
        title = self.detail.locator(".title-bar")
        expect(title.locator(".chip")).to_have_text("200")
        expect(title.locator("time")).to_have_attribute("title", re.compile(r"20\d\d.*:\d\d\.\d{3}.*(UTC|GMT|[A-Z]{3,4})"))
        self.assertEqual(self.evaluated(title, "title => title.offsetHeight"), 44)
        self.evaluated(self.detail, "detail => { detail.scrollTop = 400 }")
        top = "title => title.getBoundingClientRect().top - document.getElementById('detail').getBoundingClientRect().top"
        self.assertEqual(self.evaluated(title, top), 0)

    def test_tabs_keep_the_focus_and_follow_the_arrow_keys(self):
        self.open(alert(1))
        self.show(1)
        self.detail.get_by_role("tab", name="Payload").click()
        expect(self.detail.get_by_role("tab", name="Payload")).to_be_focused()
        for key, name in [("ArrowRight", "Headers"), ("End", "Raw"), ("ArrowRight", "Preview"), ("ArrowLeft", "Raw"), ("Home", "Preview")]:
            self.page.keyboard.press(key)
            expect(self.detail.get_by_role("tab", name=name)).to_be_focused()
            expect(self.detail.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
            expect(self.detail.get_by_role("tabpanel", name=name)).to_be_visible()
        expect(self.detail.locator("[role=tab][tabindex='0']")).to_have_count(1)
        self.page.keyboard.press("End")
        # A change of the push keeps tab and focus.
        self.simulator.ask("PUT", "/api/v1/pushes/1/tags", {"tags": ["checkout"]})
        expect(self.detail.locator(".tags")).to_contain_text("checkout")
        expect(self.detail.get_by_role("tab", name="Raw")).to_be_focused()

    def test_the_payload_is_requested_only_when_it_is_shown(self):
        self.open(alert(1))
        self.show(1)
        expect(self.detail.locator(".previews[aria-busy=false]")).to_be_visible()
        seen = lambda: [request.url for request in self.requests if request.url.endswith("/payload")]
        self.assertEqual(seen(), [])
        self.detail.get_by_role("tab", name="Raw").click()
        expect(self.detail.locator("pre")).to_contain_text("Order 1")
        self.detail.get_by_role("tab", name="Payload").click()
        expect(self.detail.get_by_role("tree")).to_be_visible()
        self.assertEqual(len(seen()), 1)

    def test_a_push_that_is_gone_is_reported(self):
        self.allow_errors("status of 404")
        self.open(*[alert(number) for number in range(1, 4)])
        self.page.route(re.compile("/pushes/2/payload"), lambda route: route.fulfill(status=404, json={"detail": "gone"}))
        self.show(2)
        self.detail.get_by_role("tab", name="Raw").click()
        expect(self.detail.get_by_role("tabpanel")).to_have_text("Push 2 is no longer stored.")
        self.choose("Copy", "Copy as curl")
        expect(self.page.locator(".toast")).to_have_text("Push 2 is no longer stored.")

    def test_a_deleted_push_is_reported(self):
        self.allow_errors("status of 404")
        self.open(*[alert(number) for number in range(1, 4)])
        answer = {"status": 404, "json": {"detail": "push 2 is no longer stored"}}
        self.page.route(re.compile("/pushes/2$"), lambda route: route.fulfill(**answer))
        self.page.locator("#push-2").click()
        expect(self.detail).to_contain_text("push 2 is no longer stored")
        self.page.locator("#push-3").click()
        expect(self.detail.locator("h2")).to_have_text("Order 3")

    def test_a_selection_cancels_the_requests_of_the_one_before(self):
        self.open(*[alert(number) for number in range(1, 4)])
        cancelled = []
        self.page.on("requestfailed", lambda request: cancelled.append(request.url))
        self.page.route(re.compile("/pushes/2$"), lambda route: None)
        with self.page.expect_request(re.compile("/pushes/2$")):
            self.page.locator("#push-2").click()
        self.page.locator("#push-3").click()
        expect(self.detail.locator("h2")).to_have_text("Order 3")
        self.wait_until(lambda: any(url.endswith("/pushes/2") for url in cancelled), "the request is not cancelled")

    def test_the_tree_keeps_numbers_and_shows_findings(self):
        self.open()
        text = '{"aps":{"alert":"Hi","badge":"3"},"order":{"id":12345678901234567890,"total":1.50,"lines":[]}}'
        headers = {"apns-push-type": "alert", "apns-topic": "com.example.app"}
        self.simulator.ask("POST", "/api/v1/pushes", {"device-token": PHONE, "headers": headers, "payload-text": text})
        self.show(1)
        self.detail.get_by_role("tab", name="Payload").click()
        tree = self.detail.get_by_role("tree")
        for value in ["12345678901234567890", "1.50", "[]"]:
            expect(tree.get_by_text(value, exact=True)).to_be_visible()
        expect(tree.locator("[data-found]")).to_contain_text("badge must be a whole number")
        tree.get_by_text("order", exact=True).click()
        self.page.keyboard.press("ArrowLeft")
        expect(tree.get_by_text("1.50")).to_be_hidden()
        self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("ArrowRight")
        for name, value in {"Copy path": "order.id", "Copy value": "12345678901234567890"}.items():
            self.assertEqual(self.copied_by(self.detail.get_by_role("button", name=name).click), value)
        self.detail.get_by_role("button", name="Collapse all").click()
        expect(tree.get_by_text("badge", exact=True)).to_be_hidden()
        self.detail.get_by_role("tab", name="Findings").click()
        self.detail.get_by_role("button", name="payload/aps/badge").click()
        expect(self.detail.get_by_role("tab", name="Payload")).to_have_attribute("aria-selected", "true")
        expect(tree.locator("[data-shown=value]")).to_have_attribute("data-pointer", "/aps/badge")

    def test_the_parts_of_the_verdict_open_their_places(self):
        text = "Delivered · banner · no sound (aps.sound is missing) · low priority · replaced by push 1"
        parts = [{"text": "no sound", "cause": "aps.sound is missing", "place": "payload/aps/sound"},
                 {"text": "low priority", "cause": "apns-priority is 5", "place": "apns-priority"}]
        verdict = {"kind": "replaced", "text": text, "parts": parts, "replaced-by": 1}
        second = alert(2)
        second["headers"]["apns-priority"] = "5"
        self.open(alert(1), second)

        def answer(route):
            response = route.fetch()
            route.fulfill(response=response, json={**response.json(), "verdict": verdict})

        self.page.route(re.compile("/api/v1/pushes/2$"), answer)
        self.show(2)
        line = self.detail.locator(".verdict").first
        expect(line).to_have_text(text)
        line.get_by_role("link", name="no sound (aps.sound is missing)").click()
        shown = self.detail.get_by_role("tree").locator("[data-shown]")
        expect(shown).to_have_attribute("data-pointer", "/aps")
        expect(shown).to_contain_text("sound is not in the payload")
        line.get_by_role("link", name="low priority").click()
        expect(self.detail.get_by_role("tabpanel", name="Headers").locator("dt[data-shown]")).to_have_text("apns-priority")
        line.get_by_role("link", name="push 1").click()
        expect(self.detail.locator("h2")).to_have_text("Order 1")

    def test_tags_and_the_pin_are_edited_in_place(self):
        self.open(alert(1))
        self.show(1)
        for tag in ["checkout", "sprint 12"]:
            self.detail.get_by_role("button", name="Add tag").click()
            self.detail.get_by_label("New tag").fill(tag)
            self.page.keyboard.press("Enter")
            expect(self.detail.locator(".tags")).to_contain_text(tag)
        self.detail.get_by_role("button", name="Remove tag checkout").click()
        expect(self.detail.locator(".tags")).not_to_contain_text("checkout")
        self.detail.get_by_role("button", name="Pin").click()
        expect(self.detail.get_by_role("button", name="Unpin")).to_have_attribute("aria-pressed", "true")
        stored = self.simulator.ask("GET", "/api/v1/pushes/1")
        self.assertEqual((stored["tags"], stored["pinned"]), (["sprint 12"], True))

    def test_a_tag_being_typed_survives_an_event(self):
        self.open(alert(1))
        self.show(1)
        self.detail.get_by_role("button", name="Add tag").click()
        self.page.keyboard.type("chec")
        self.simulator.ask("PUT", "/api/v1/pushes/1/tags", {"tags": ['say "hi"', "sprint 12"], "pinned": True})
        expect(self.detail.get_by_role("button", name="Unpin")).to_be_visible()
        expect(self.detail.get_by_label("New tag")).to_be_focused()
        self.page.keyboard.type("kout")
        self.page.keyboard.press("Enter")
        expect(self.detail.locator(".tags")).to_contain_text("checkout")
        expect(self.detail.get_by_role("button", name="Add tag")).to_be_focused()
        self.assertEqual(self.simulator.ask("GET", "/api/v1/pushes/1")["tags"], ['say "hi"', "sprint 12", "checkout"])
        # A term cannot contain quotation marks.
        expect(self.detail.locator(".tags a")).to_have_text(["sprint 12", "checkout"])
        self.detail.get_by_role("link", name="sprint 12").click()
        expect(self.page.locator("#search")).to_have_value('tag:"=sprint 12"')

    def test_an_error_of_a_tab_does_not_replace_another_tab(self):
        self.allow_errors("status of 404")
        self.open(alert(1))
        held = []
        self.page.route("**/pushes/1/payload", lambda route: held.append(route))
        self.show(1)
        self.detail.get_by_role("tab", name="Raw").click()
        self.wait_until(lambda: held)
        self.detail.get_by_role("tab", name="Headers").click()
        with self.page.expect_response("**/pushes/1/payload"):
            held[0].fulfill(status=404, json={"detail": "gone"})
        self.page.wait_for_timeout(200)
        expect(self.detail.get_by_role("tabpanel")).to_contain_text("apns-topic")

    def test_a_hostile_push_is_shown_as_text(self):
        payload = {"aps": {"alert": {"title": HOSTILE, "body": HOSTILE}, HOSTILE: [HOSTILE]}, HOSTILE: {HOSTILE: HOSTILE}}
        self.open(alert(1, payload=payload), alert(2))
        self.page.goto(f"{self.simulator.url}/#/compare/1/2")
        expect(self.page.locator(".compare")).to_contain_text("<script>")
        self.show(1)
        self.detail.get_by_role("tab", name="Payload").click()
        expect(self.detail.get_by_role("tree")).to_contain_text("<script>")
        self.assertIsNone(self.page.evaluate("window.hacked ?? null"))
        self.assertEqual(self.page.locator("main img, main script").count(), 0)

    def test_a_menu_is_used_with_the_keyboard(self):
        self.open(alert(1))
        self.show(1)
        opener = self.detail.get_by_role("button", name="Copy", exact=True)
        opener.press("Enter")
        expect(self.detail.get_by_role("menuitem", name="Copy as curl")).to_be_focused()
        self.page.keyboard.press("ArrowDown")
        expect(self.detail.get_by_role("menuitem", name="Copy as Swift")).to_be_focused()
        self.page.keyboard.press("Escape")
        expect(self.detail.get_by_role("menu", name="Copy")).to_be_hidden()
        expect(opener).to_be_focused()
        expect(self.detail.locator("h2")).to_have_text("Order 1")
        opener.click()
        expect(self.detail.get_by_role("menu", name="Copy")).to_be_visible()
        opener.click()
        expect(self.detail.get_by_role("menu", name="Copy")).to_be_hidden()

    def test_a_narrow_screen_has_a_way_back(self):
        self.page.set_viewport_size({"width": 390, "height": 844})
        self.open(alert(1))
        self.rows().first.click()
        expect(self.page.locator("#list")).to_be_hidden()
        self.detail.get_by_role("button", name="Back to the list").click()
        expect(self.page.locator("#list")).to_be_visible()


class Comparison(DetailWalk):
    def test_two_pushes_are_compared(self):
        self.allow_errors("status of 404")
        one = alert(1, payload={"aps": {"alert": {"title": "Order 1", "body": "Same"}, "badge": 1}, "old": True})
        other = alert(3, payload={"aps": {"alert": {"title": "Order 3", "body": "Same"}, "badge": 1, "sound": "default"}})
        other["headers"]["apns-priority"] = "5"
        self.open(one, push(2), other)
        self.show(3)
        self.choose("Compare", "With the previous to this device")
        expect(self.page).to_have_url(re.compile("#/compare/1/3$"))
        payload = self.page.get_by_role("table", name="Differences of payload")
        rows = payload.locator("tr[data-kind]:visible")
        expect(rows).to_have_count(3)
        self.assertEqual(
            [(row.get_attribute("data-kind"), row.locator("th").inner_text().split("\n")[0].strip()) for row in rows.all()],
            [("changed", "aps.alert.title"), ("added", "aps.sound"), ("removed", "old")])
        expect(self.page.get_by_role("region", name="Preview of push 1").locator(".previews")).to_have_attribute("aria-busy", "false")
        expect(self.page.get_by_role("region", name="Preview of push 3").locator(".previews")).to_have_attribute("aria-busy", "false")
        expect(payload.locator("del").first).to_have_text("1")
        expect(payload.locator("ins").first).to_have_text("3")
        expect(self.page.get_by_role("table", name="Differences of headers")).to_contain_text("apns-priority")
        self.page.get_by_role("tab", name="All values").click()
        expect(rows).to_have_count(5)
        self.page.reload()
        expect(payload).to_be_visible()
        self.page.get_by_role("button", name="Swap the sides").click()
        expect(self.page).to_have_url(re.compile("#/compare/3/1$"))
        expect(payload.locator("tr[data-kind=added] th")).to_contain_text("old")
        self.page.goto(f"{self.simulator.url}/#/compare/1/9")
        expect(self.page.locator("#page")).to_contain_text("The pushes cannot be compared")


class Replay(DetailWalk):
    def replay(self):
        self.detail.get_by_role("button", name="Replay", exact=True).click()
        return self.page.get_by_role("dialog", name=re.compile("^Replay push"))

    def test_an_update_of_an_activity_gets_a_fresh_timestamp(self):
        self.open()
        ask = self.simulator.ask
        old = int(time.time()) - 600
        ask("POST", "/api/v1/pushes", activity(old, **{"stale-date": old + 60, "n": 1}))
        self.show(1)
        dialog = self.replay()
        dialog.get_by_role("button", name="Replay").click()
        expect(dialog.locator(".outcome-lines")).to_contain_text("push 2")
        sent = ask("GET", "/api/v1/pushes/2")["payload"]["aps"]
        self.assertGreaterEqual(sent["timestamp"], old + 600)
        self.assertEqual(sent["stale-date"] - sent["timestamp"], 60)
        self.assertEqual(ask("GET", "/api/v1/pushes/2")["deliveries"][-1]["kind"], "delivered")
        dialog.get_by_label("Fresh timestamp").uncheck()
        dialog.get_by_role("button", name="Replay").click()
        expect(dialog.locator(".outcome-lines")).to_contain_text("push 3")
        self.assertEqual(ask("GET", "/api/v1/pushes/3")["payload"]["aps"]["timestamp"], old)
        dialog.get_by_role("link", name="push 3").click()
        expect(dialog).to_be_hidden()
        expect(self.page).to_have_url(re.compile("#/push/3$"))

    def test_the_dialog_closes_when_the_address_changes(self):
        self.open(alert(1), alert(2))
        self.show(1)
        self.show(2)
        expect(self.replay()).to_be_visible()
        self.page.evaluate("location.hash = '#/push/1'")
        expect(self.page.get_by_role("dialog")).to_have_count(0)
        expect(self.detail.locator("h2")).to_have_text("Order 1")
        expect(self.replay()).to_have_accessible_name("Replay push 1")
        self.page.go_back()
        expect(self.page.get_by_role("dialog")).to_have_count(0)
        self.page.keyboard.press("?")
        expect(self.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()

    def test_an_alert_goes_to_another_device(self):
        self.open(alert(1))
        self.show(1)
        dialog = self.replay()
        dialog.get_by_label("Device token").fill("not a token")
        dialog.get_by_role("button", name="Replay").click()
        expect(dialog.locator(".outcome-lines")).to_contain_text("400 BadDeviceToken")
        dialog.get_by_label("Device token").fill("77" * 16)
        dialog.get_by_role("button", name="Replay").click()
        expect(dialog.locator(".outcome-lines")).to_contain_text("push 3")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/pushes/3")["device-token"], "77" * 16)


class Copies(DetailWalk):
    def run_curl(self, command):
        path = {**os.environ, "PATH": f"{Path(MARTLET).parent}:{os.environ['PATH']}"}
        ran = subprocess.run(["bash", "-c", command], env=path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)

    def check_curl(self):
        text = '{"aps":{"alert":"It\'s $HOME `here`"},"n":12345678901234567890}'
        headers = {"apns-push-type": "alert", "apns-topic": "com.example.app", "apns-collapse-id": "it's"}
        self.simulator.ask("POST", "/api/v1/pushes", {"device-token": PHONE, "headers": headers, "payload-text": text})
        self.show(1)
        self.run_curl(self.copied("Copy as curl"))
        sent = self.simulator.ask("GET", "/api/v1/pushes/2")
        self.assertEqual((sent["status"], sent["headers"]), (200, headers))
        expect(self.page.locator("#push-2")).to_be_visible()
        self.show(2)
        self.detail.get_by_role("tab", name="Raw").click()
        expect(self.detail.locator("pre")).to_have_text(text)

    def test_curl_runs_as_copied_without_tls(self):
        self.open()
        self.check_curl()

    def test_curl_runs_as_copied_with_a_certificate_authority(self):
        self.simulator.stop()
        directory = tempfile.TemporaryDirectory(prefix="it's a ca ")
        self.addCleanup(directory.cleanup)
        self.simulator = Simulator(None, "--ca-directory", directory.name, is_encrypted=True)
        self.open()
        self.check_curl()

    def test_a_row_that_is_selected_while_the_simulator_is_stopped(self):
        self.allow_errors("net::ERR")
        self.open(alert(1), alert(2))
        self.show(1)
        self.page.route("**/api/v1/**", lambda route: route.abort())
        self.page.evaluate("location.hash = '#/push/2'")
        expect(self.detail).to_contain_text("The simulator does not answer. Is it running?")
        expect(self.detail).to_contain_text("Select the push again when it runs.")

    def test_a_file_for_simctl_and_identifiers_are_copied(self):
        self.open(alert(1, **{"apns-id": "11111111-2222-3333-4444-555555555555"}))
        self.show(1)
        file = json.loads(self.copied("Copy as .apns"))
        self.assertEqual(file["Simulator Target Bundle"], "com.example.app")
        self.assertEqual(file["aps"]["alert"]["title"], "Order 1")
        self.page.goto(f"{self.simulator.url}/#/push/1?query=title%3AOrder")
        expect(self.page.locator("#search")).to_have_value("title:Order")
        self.assertEqual(self.copied("Copy link"), f"{self.simulator.url}/#/push/11111111-2222-3333-4444-555555555555")
        self.assertEqual(self.copied("Copy identifier"), "11111111-2222-3333-4444-555555555555")
        copy = self.detail.get_by_role("button", name="Copy app com.example.app")
        self.assertEqual(self.copied_by(copy.click), "com.example.app")


class Files(DetailWalk):
    DROP = """([name, text]) => {
      const data = new DataTransfer()
      data.items.add(new File([text], name))
      for (const type of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
    }"""

    def test_a_file_of_one_push_opens_in_another_inbox(self):
        self.allow_errors("status of 400")
        self.open(alert(1), alert(2))
        self.show(2)
        with self.page.expect_download() as download:
            self.choose("Copy", "Download as a file")
        self.assertEqual(download.value.suggested_filename, "Order 2.martletpush")
        line = download.value.path().read_text()
        self.assertEqual(json.loads(line)["number"], 2)
        self.simulator.ask("DELETE", "/api/v1/pushes")
        expect(self.rows()).to_have_count(0)
        self.page.evaluate(self.DROP, ["Order 2.martletpush", line])
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.page).to_have_url(re.compile("#/push/3$"))
        self.page.evaluate(self.DROP, ["wrong.martletpush", "{}"])
        expect(self.page.locator(".toast").last).to_contain_text("wrong.martletpush was not imported: line 1")
        expect(self.page.locator("body[data-dropping]")).to_have_count(0)

    def test_strings_and_templates_are_uploaded(self):
        self.allow_errors("status of 400")
        localized = alert(1, payload={"aps": {"alert": {"title-loc-key": "READY", "loc-key": "BODY"}}})
        self.open(localized)
        self.show(1)
        self.choose("More actions", "Strings and templates")
        dialog = self.page.get_by_role("dialog", name="Strings and templates")
        files = [{"name": "en.strings", "mimeType": "text/plain", "buffer": b'"READY" = "Order ready";\n"BODY" = "Come";\n'},
                 {"name": "order.json", "mimeType": "application/json", "buffer": b'{"wrong": 1}'}]
        dialog.get_by_label("Files").set_input_files(files)
        strings = dialog.get_by_role("form", name="en.strings")
        expect(strings.get_by_label("App")).to_have_value("com.example.app")
        strings.get_by_label("Language").fill("not a language")
        strings.get_by_role("button", name="Upload").click()
        expect(strings.get_by_role("alert")).to_contain_text("is not a language tag")
        expect(strings.get_by_label("Language")).to_have_attribute("aria-invalid", "true")
        strings.get_by_label("Language").fill("en")
        strings.get_by_role("button", name="Upload").click()
        expect(dialog.locator(".stored")).to_contain_text("2 strings in en")
        template = dialog.get_by_role("form", name="order.json")
        template.get_by_label("Attributes type").fill("OrderAttributes")
        template.get_by_role("button", name="Upload").click()
        expect(template.get_by_role("alert")).to_contain_text("wrong")
        # A drop into the dialog ends the drag.
        dropping = self.page.evaluate("""() => {
          const data = new DataTransfer()
          data.items.add(new File(["{}"], "order.json"))
          const drag = (target, type) => target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
          for (const type of ["dragenter", "drop"]) drag(document.querySelector(".uploads"), type)
          for (const type of ["dragenter", "dragleave"]) drag(document.body, type)
          return document.body.hasAttribute("data-dropping")
        }""")
        self.assertFalse(dropping)
        dialog.get_by_role("button", name="Close").click()
        expect(self.detail.locator("h2")).to_have_text("Order ready")
        self.page.evaluate(self.DROP, ["de.strings", '"READY" = "Fertig";'])
        expect(dialog.get_by_role("form", name="de.strings")).to_be_visible()
        dialog.get_by_role("button", name="Remove 2 strings in en of com.example.app").click()
        dialog.get_by_role("button", name="Keep 2 strings in en of com.example.app").click()
        dialog.get_by_role("button", name="Remove 2 strings in en of com.example.app").click()
        self.assertEqual(len(self.simulator.ask("GET", "/api/v1/strings")["strings"]), 1)
        # A removal does not remove what is uploaded after it.
        again = dialog.get_by_role("form", name="de.strings")
        again.get_by_label("App").fill("com.example.app")
        again.get_by_label("Language").fill("en")
        again.get_by_role("button", name="Upload").click()
        dialog.get_by_role("button", name="Remove 1 string in en of com.example.app").click()
        dialog.get_by_role("button", name="Close").click()
        self.wait_until(lambda: self.simulator.ask("GET", "/api/v1/strings")["strings"] == [])


if __name__ == "__main__":
    unittest.main()
