# SPDX-License-Identifier: Apache-2.0

"""Filters, groups, multiple selection, the composer and releases."""

import json
import os
import signal
import time
import unittest
import urllib.parse
import urllib.request

from inbox_walk import InboxWalk, Simulator, push
from playwright.sync_api import expect

PHONE = "5d3a6a1c8f9a42d6"


def order(number, thread=None, app="com.example.app", **more):
    made = push(number, **more)
    made["headers"]["apns-topic"] = app
    if thread:
        made["payload"]["aps"]["thread-id"] = thread
    return made


class Lists(InboxWalk):
    def numbers(self):
        return [int(number) for number in self.page.eval_on_selector_all(
            ".row", "rows => rows.sort((one, other) => one.offsetTop - other.offsetTop).map(row => row.dataset.number)")]

    def expect_numbers(self, *numbers):
        self.wait_until(lambda: self.numbers() == list(numbers), f"the rows are not {numbers}")

    def ask(self, path, method="GET", body=None, simulator=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request((simulator or self.simulator).url + path, data, method=method)
        return urllib.request.urlopen(request).read().decode()

    def filter(self, name):
        return self.page.locator("#filters").get_by_role("button", name=name, exact=True)

    def test_a_row_stays_while_its_text_does(self):
        self.open(order(1), push(2, payload={"aps": {"alert": {"title-loc-key": "READY"}}}))
        for number in (1, 2):
            self.evaluated(self.page.locator(f"#push-{number}"), "row => { row.isKnown = true }")
        ready = {"localizations": {"en": {"stringUnit": {"state": "translated", "value": "Ready"}}}}
        self.ask("/api/v1/strings/com.example.app", "PUT", {"sourceLanguage": "en", "version": "1.0", "strings": {"READY": ready}})
        expect(self.page.locator("#push-2 .headline")).to_have_text("Ready")
        self.assertTrue(self.evaluated(self.page.locator("#push-1"), "row => row.isKnown === true"))

    def test_filters_change_the_query(self):
        refused = order(4, status=410, reason="Unregistered")
        self.open(order(1, "order 1"), order(2, "order 2"), order(3, app="com.example.app.beta"), refused)
        search = self.page.locator("#search")
        expect(self.filter("com.example.app")).to_have_text("com.example.app 3")
        self.filter("com.example.app").click()
        expect(search).to_have_value("app:=com.example.app")
        expect(self.rows()).to_have_count(3)
        self.filter("Unregistered").click()
        expect(search).to_have_value("app:=com.example.app reason:=Unregistered")
        expect(self.rows()).to_have_count(1)
        self.filter("Unregistered").click()
        self.filter("order 1").click()
        expect(search).to_have_value('app:=com.example.app thread:"=order 1"')
        self.filter("order 2").click()
        expect(search).to_have_value('app:=com.example.app thread:"=order 2"')
        expect(self.rows()).to_have_count(1)
        expect(self.filter("order 2")).to_have_attribute("aria-pressed", "true")
        expect(self.filter("order 2")).to_be_focused()
        self.simulator.import_pushes(order(5, "order 2"), order(6, "order 1"))
        expect(self.rows()).to_have_count(2)
        expect(self.page.locator("#tools .shown")).to_have_text("2 of 6 pushes")
        self.filter("All").click()
        expect(search).to_have_value("")
        expect(self.rows()).to_have_count(6)
        self.filter("Threads").click()
        expect(self.filter("order 2")).to_be_hidden()

    def test_an_element_that_changes_while_pressed_gets_the_click(self):
        self.open(order(1), order(2, app="com.example.beta"))
        beta = self.filter("com.example.beta")
        for number, (begin, end) in enumerate([
            (lambda: (beta.hover(), self.page.mouse.down()), self.page.mouse.up),
            (lambda: (beta.focus(), self.page.keyboard.down(" ")), lambda: self.page.keyboard.up(" ")),
        ]):
            begin()
            self.simulator.import_pushes(order(10 + number, app="com.example.beta"))
            # Longer than the page waits before it shows new counts.
            self.page.wait_for_timeout(500)
            end()
            expect(self.page.locator("#search")).to_have_value(["app:=com.example.beta", ""][number])
            expect(beta).to_have_text(f"com.example.beta {2 + number}")

    def test_groups_expand_and_collapse_with_keys(self):
        self.open(order(1, "one"), order(2, "two"), order(3, "one"), order(4))
        self.page.get_by_label("Group by").select_option("thread")
        groups = self.page.locator(".group")
        expect(groups.locator(".headline")).to_have_text(["one", "two", "no thread"])
        expect(self.page.get_by_role("tree", name="Pushes")).to_have_attribute("aria-multiselectable", "true")
        expect(self.page.get_by_role("treeitem", level=2)).to_have_count(4)
        self.expect_numbers(3, 1, 2, 4)
        self.page.locator("#list").focus()
        self.page.keyboard.press("Home")
        expect(self.page.locator("#list")).to_have_attribute("aria-activedescendant", "group-1")
        self.page.keyboard.press("ArrowLeft")
        expect(groups.first).to_have_attribute("aria-expanded", "false")
        self.expect_numbers(2, 4)
        self.page.keyboard.press("x")
        expect(self.page.get_by_role("toolbar", name="Selected pushes").get_by_role("status")).to_have_text("2 selected")
        self.page.keyboard.press("Enter")
        expect(groups.first).to_have_attribute("aria-expanded", "true")
        self.page.keyboard.press("j")
        expect(self.page.locator("#push-3[data-current][data-marked]")).to_have_count(1)
        self.page.keyboard.press("ArrowLeft")
        expect(self.page.locator("#list")).to_have_attribute("aria-activedescendant", "group-1")
        self.page.reload()
        expect(groups).to_have_count(3)

    def test_several_pushes_are_deleted_in_one_request(self):
        self.open(*[order(number) for number in range(1, 11)])
        marked = self.page.locator("[role=option][aria-selected=true]")
        self.page.locator("#push-9").click()
        expect(marked).to_have_count(1)
        self.page.locator("#push-5").click(modifiers=["Shift"])
        expect(marked).to_have_count(5)
        self.page.locator("#push-7").click(modifiers=["Control"])
        expect(marked).to_have_count(4)
        self.page.locator("#push-2").click(modifiers=["Control"])
        expect(marked).to_have_count(5)
        with self.page.expect_download() as download:
            self.page.keyboard.press("e")
        lines = download.value.path().read_text().splitlines()
        self.assertEqual([json.loads(line)["number"] for line in lines], [2, 5, 6, 8, 9])
        self.page.get_by_role("button", name="Delete", exact=True).first.click()
        expect(self.rows()).to_have_count(5)
        self.expect_numbers(10, 7, 4, 3, 1)
        expect(self.page.get_by_role("toolbar", name="Selected pushes")).to_be_hidden()
        self.page.locator("#push-7").click()
        for _ in range(2):
            self.page.keyboard.press("J")
        expect(marked).to_have_count(3)
        self.page.keyboard.press("K")
        expect(marked).to_have_count(2)
        self.page.keyboard.press("Escape")
        # Only the last deletion can be undone, so another one sends the request.
        with self.page.expect_request(lambda request: request.method == "DELETE") as deletion:
            self.page.keyboard.press("Delete")
        self.assertEqual(urllib.parse.parse_qs(urllib.parse.urlsplit(deletion.value.url).query)["query"][0], "number:2,5-6,8-9")
        expect(self.rows()).to_have_count(4)
        expect(self.page.locator("#detail h2")).to_have_text("Order 3")
        self.page.locator("#list").press("Control+a")
        expect(self.page.get_by_role("toolbar", name="Selected pushes").get_by_role("status")).to_have_text("4 selected")

    def test_requests_for_a_push_are_cancelled_before_it_is_deleted(self):
        self.open(*[order(number) for number in range(1, 4)])
        cancelled = []
        self.page.on("requestfailed", lambda request: cancelled.append(request.url))
        self.page.route("**/context", lambda route: None)
        with self.page.expect_request("**/pushes/2/context"):
            self.page.locator("#push-2").click()
        self.page.locator("#detail").get_by_role("button", name="Delete").click()
        expect(self.rows()).to_have_count(2)
        self.wait_until(lambda: any("/pushes/2/context" in url for url in cancelled), "the request is not cancelled")

    def test_visible_rows_keep_their_position(self):
        self.open(*[order(number) for number in range(1, 101)])
        self.evaluated(self.page.locator("#list"), "list => { list.scrollTop = 1230 }")
        place = "document.getElementById('push-75')?.getBoundingClientRect().top"
        self.page.wait_for_selector("#push-75")
        before = self.page.evaluate(place)
        self.simulator.import_pushes(*[order(number) for number in range(101, 121)])
        expect(self.page.locator("#tools .shown")).to_have_text("120 pushes")
        self.wait_until(lambda: self.page.evaluate(place) == before, "the row has moved")

    def test_pushes_that_arrive_before_the_list_is_answered_stay_unread(self):
        self.simulator.import_pushes(order(1), order(2))
        held = []
        self.page.route("**/api/v1/pushes?*", lambda route: held.append((route, route.fetch())))
        self.page.goto(self.simulator.url)
        # The request follows the subscription to events.
        self.wait_until(lambda: held)
        self.simulator.import_pushes(order(3), order(4))
        expect(self.page).to_have_title("(2) Martlet inbox")
        for route, answer in held:
            route.fulfill(response=answer)
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.rows()).to_have_count(4)
        expect(self.page.locator("[data-unread]")).to_have_count(2)
        for number in (3, 4):
            expect(self.page.locator(f"[data-number='{number}'][data-unread]")).to_have_count(1)

    def test_the_list_does_not_wait_for_events_that_a_proxy_holds_back(self):
        self.simulator.import_pushes(order(1), order(2))
        held = []
        self.page.route("**/api/v1/events?*", lambda route: held.append(route))
        self.page.goto(self.simulator.url)
        expect(self.page.locator("#live")).to_have_text("Live updates are delayed")
        expect(self.rows()).to_have_count(2)
        self.simulator.import_pushes(order(3))
        for route in held:
            route.continue_()
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.rows()).to_have_count(3)
        self.simulator.import_pushes(order(4))
        expect(self.rows()).to_have_count(4)

    def test_a_simulator_that_does_not_answer_is_reported(self):
        self.open(order(1))
        # The event is sent to the page at the same time.
        self.page.evaluate("new Promise((done) => new EventSource('/api/v1/events?view=summary').addEventListener('alive', done)).then(() => {})")
        os.kill(self.simulator.process.pid, signal.SIGSTOP)
        try:
            # The page also connects again, as the connection to a machine that is gone stays open.
            with self.page.expect_request("**/api/v1/events?*"):
                expect(self.page.locator("#live")).to_have_text("Connection lost. Retrying…")
        finally:
            os.kill(self.simulator.process.pid, signal.SIGCONT)
        expect(self.page.locator("#live")).to_have_text("Live")
        self.simulator.import_pushes(order(2))
        expect(self.rows()).to_have_count(2)

    def test_a_refused_connection_shows_the_cause(self):
        self.allow_errors("status of 403")
        # The browser resolves each name that ends in localhost to this machine.
        self.page.goto(f"http://inbox.localhost:{self.simulator.port}/")
        expect(self.page.locator("#live")).to_have_text(
            "unknown host name inbox.localhost: start the simulator with --name inbox.localhost")

    def test_the_connection_continues_once_the_simulator_accepts_it(self):
        self.allow_errors("status of 503")
        self.simulator.import_pushes(order(1))
        problem = {"detail": "too many clients wait or read events: try again later"}
        self.page.route("**/api/v1/events?*", lambda route: route.fulfill(status=503, json=problem))
        self.page.goto(self.simulator.url)
        expect(self.page.locator("#live")).to_have_text(problem["detail"])
        self.page.unroute("**/api/v1/events?*")
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.rows()).to_have_count(1)

    def test_the_inbox_works_below_a_path_of_a_proxy(self):
        self.simulator.import_pushes(order(1), order(2))
        asked = []
        self.page.on("request", lambda request: asked.append(request.url))
        self.page.route("**/below/**", lambda route: route.continue_(url=route.request.url.replace("/below/", "/", 1)))
        self.page.goto(f"{self.simulator.url}/below/")
        expect(self.page.locator("#live")).to_have_text("Live")
        expect(self.rows()).to_have_count(2)
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.page.locator(".previews figure").first).to_be_visible()
        self.page.evaluate("location.hash = '#/connect'")
        expect(self.page.locator("#page")).to_contain_text("/below/api/v1/pushes/wait")
        self.assertEqual([url for url in asked if "/below/" not in url and url.startswith("http")], [])

    def test_unread_pushes_are_stored(self):
        self.allow_errors("net::ERR")
        self.open(order(1), order(2))
        expect(self.page.locator("[data-unread]")).to_have_count(0)
        self.simulator.import_pushes(order(3), order(4))
        expect(self.page).to_have_title("(2) Martlet inbox")
        self.rows().first.click()
        self.page.reload()
        expect(self.page.locator("[data-unread]")).to_have_count(1)
        self.page.goto("about:blank")
        self.simulator.import_pushes(order(5))
        self.page.goto(self.simulator.url)
        expect(self.page.locator("[data-unread]")).to_have_count(2)
        self.page.locator("#list").press("Control+a")
        self.page.keyboard.press("r")
        expect(self.page.locator("[data-unread]")).to_have_count(0)
        expect(self.page).to_have_title("Martlet inbox")
        self.simulator.stop()
        self.simulator = Simulator(self.simulator.port)
        self.simulator.import_pushes(order(1, time=1), order(2))
        self.page.reload()
        expect(self.page.locator("[data-unread]")).to_have_count(2)

    def test_five_thousand_pushes_in_groups_scroll_fast(self):
        for start in range(0, 5000, 1000):
            self.simulator.import_pushes(*[order(number, f"order-{number % 250}") for number in range(start, start + 1000)])
        self.open()
        expect(self.page.locator("#tools .shown")).to_have_text("5,000 pushes")
        self.page.get_by_label("Group by").select_option("thread")
        expect(self.page.locator("#list .rows")).to_have_css("height", f"{5000 * 52 + 250 * 36}px")
        self.assertLess(self.page.locator("#list .rows > *").count(), 60)
        # The best of three measurements: another process may have taken the processor during one.
        longest = min(self.page.evaluate("""async () => {
          const list = document.getElementById("list")
          const frame = () => new Promise(requestAnimationFrame)
          let longest = 0
          list.scrollTop = 0
          for (let step = 0; step < 60; step += 1) {
            const start = performance.now()
            list.scrollTop += 4000
            list.dispatchEvent(new Event("scroll"))
            document.body.getBoundingClientRect()
            longest = Math.max(longest, performance.now() - start)
            await frame()
          }
          return longest
        }""") for _ in range(3))
        self.assert_fast("a step of scrolling with 5000 pushes in 250 groups", longest / 1000, 0.2)
        self.page.locator("#list").press("Control+a")
        start = time.monotonic()
        self.page.keyboard.press("Delete")
        expect(self.page.locator("#tools .shown")).to_have_text("0 pushes")
        self.assert_fast("the deletion of 5000 pushes", time.monotonic() - start, 5)
        self.page.goto("about:blank")
        self.wait_until(lambda: self.simulator.ask("GET", "/api/v1/pushes")["total"] == 0)

    def test_an_undone_deletion_of_many_keeps_the_counts(self):
        self.simulator.import_pushes(*[order(number, app=f"com.example.{'old' if number <= 600 else 'new'}") for number in range(1, 1201)])
        self.open()
        self.page.get_by_label("Group by").select_option("app")
        self.page.locator(".group", has_text="com.example.new").press("ArrowLeft")
        self.page.locator("#list").focus()
        self.page.keyboard.press("Home")
        self.page.keyboard.press("ArrowLeft")
        for app in ["old", "new"]:
            self.page.locator(".group", has_text=f"com.example.{app}").click(modifiers=["Control"])
        self.page.keyboard.press("Delete")
        expect(self.page.locator("#tools .shown")).to_have_text("0 pushes")
        self.page.keyboard.press("z")
        for app in ["old", "new"]:
            expect(self.filter(f"com.example.{app}").locator(".number")).to_have_text("600")
        self.page.wait_for_timeout(300)
        for app in ["old", "new"]:
            expect(self.filter(f"com.example.{app}").locator(".number")).to_have_text("600")

    def test_a_nickname_appears_and_disappears(self):
        self.open(order(1, **{"device-token": PHONE}), order(2))
        self.page.locator("#push-1").click()
        facts = self.page.locator(".detail-facts")
        expect(facts).to_contain_text(PHONE)
        self.ask(f"/api/v1/devices/{PHONE}", "PUT", {"name": "Kim’s phone"})
        expect(self.filter("Kim’s phone")).to_be_visible()
        for shown in [self.page.locator("#push-1"), facts]:
            expect(shown).to_contain_text("Kim’s phone")
        self.ask(f"/api/v1/devices/{PHONE}", "PUT", {"name": ""})
        expect(self.filter("Kim’s phone")).to_have_count(0)
        for shown in [self.page.locator("#push-1"), facts]:
            expect(shown).not_to_contain_text("Kim’s phone")

    def test_an_event_of_the_selected_push_does_not_scroll_to_it(self):
        self.open(*[order(number) for number in range(1, 101)])
        self.page.locator("#push-100").click()
        expect(self.page.locator("#detail .tags")).to_be_visible()
        self.evaluated(self.page.locator("#list"), "list => { list.scrollTop = 2000 }")
        self.ask("/api/v1/pushes/100/tags", "PUT", {"tags": ["checkout"]})
        expect(self.page.locator("#detail .tags")).to_contain_text("checkout")
        self.assertEqual(self.evaluated(self.page.locator("#list"), "list => list.scrollTop"), 2000)

    def test_the_list_scrolls_to_a_push_that_is_opened_by_its_address(self):
        self.simulator.import_pushes(*[order(number) for number in range(1, 501)])
        self.page.goto(f"{self.simulator.url}/#/push/2")
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        expect(self.page.locator("#push-2")).to_be_in_viewport()

    def test_a_failed_export_is_reported(self):
        self.allow_errors("status of 500")
        self.open(order(1))
        self.page.route("**/api/v1/export.jsonl?*", lambda route: route.fulfill(status=500, body="broken"))
        downloads = []
        self.page.on("download", lambda download: downloads.append(download))
        self.page.locator("#push-1").click()
        self.page.keyboard.press("e")
        expect(self.page.locator(".toast")).to_have_text("The simulator returned status 500.")
        self.assertEqual(downloads, [])


if __name__ == "__main__":
    unittest.main()
