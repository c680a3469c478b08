# SPDX-License-Identifier: Apache-2.0

"""Jobs, numbers of phones and one user on the status page, with phones that are imported through the API."""

import hashlib
import json
import re
import time
import unittest
import urllib.request

from accessibility import assert_accessible, assert_contrast
from browser import PATIENCE
from playwright.sync_api import expect
from relay_walk import KEY, READER, RelayWalk

# A key with every scope that the sections need; that of the other walks has no scope installations.
SUPPORT = "mrt_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
ANNA, BERT, CARLA = ("5d3a6a1c" * 8, "8f9a42d6" * 8, "01234567" * 8)

# One that runs and one that has ended.
ACTIVITIES = {
    "6F1C": {"surface": "order-17", "started-by": "push"},
    "2B90": {"surface": "order-16", "ended": {"cause": "user", "at": 1_790_000_000_000}},
}


class People(RelayWalk):
    def configure(self):
        super().configure()
        self.configuration["callers"].append({
            "name": "support", "key-sha256": hashlib.sha256(SUPPORT.encode()).hexdigest(), "apps": self.apps,
            "scopes": ["send", "read", "installations"]})
        self.write_configuration()

    def import_phones(self, app="orders"):
        """Imports the phones of three users: one forbids alerts, and another one has no version."""
        phones = [
            {"user": "anna", "tokens": {"device": ANNA}, "activities": ACTIVITIES, "tags": ["vip"], "app-version": "2.10",
             "system-version": "26.1", "permissions": {"alerts": True}, "model": "iPhone17,1"},
            {"user": "bert", "tokens": {"device": BERT}, "app-version": "2.9", "system-version": "26.1", "permissions": {"alerts": False}},
            {"user": "carla", "tokens": {"device": CARLA}},
        ]
        lines = "\n".join(json.dumps({"environment": "development", **phone}) for phone in phones).encode()
        request = urllib.request.Request(f"{self.url}/v1/apps/{app}/installations", lines, {
            "authorization": "Bearer " + SUPPORT, "content-type": "application/x-ndjson"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertEqual(json.load(answer)["added"], 3)

    def create_job(self, **more):
        body = {"app": "orders", "to": {"all": True}, "payload": {"aps": {"alert": "Secret sale"}}, **more}
        return self.ask("POST", "/v1/pushes", body)["id"]

    def end_job(self):
        """Creates a job, and waits until it has ended."""
        job = self.create_job()
        self.wait_until(lambda: "ended-at" in self.ask("GET", f"/v1/apps/orders/jobs/{job}"))
        return job

    def job(self, job):
        return self.page.locator(f'#jobs tr[data-job="{job}"]')

    def look_up(self, user, app="orders"):
        form = self.page.locator("#user-form")
        form.get_by_label("App of the user").select_option(app)
        form.get_by_label("Identifier of the user").fill(user)
        form.get_by_role("button", name="Look up").click()

    def test_without_jobs_the_page_explains_them_with_a_request(self):
        self.enter()
        expect(self.page.locator("#jobs")).to_contain_text("A job sends a push to all phones that match an expression.")
        expect(self.page.locator("#jobs pre")).to_contain_text(f"{self.url}/v1/pushes")
        expect(self.page.locator("#jobs pre")).to_contain_text('"where":')

    def test_a_job_is_listed_with_its_progress_and_outcomes(self):
        self.import_phones()
        self.enter()
        expect(self.page.locator("#jobs")).to_contain_text("No jobs")
        job = self.end_job()
        row = self.job(job)
        expect(row).to_contain_text("Ended")
        for label, text in [("App", f"orders…{job[-12:]}"), ("Audience", "all"), ("Matched", "3"), ("Stored", "2"),
                            ("Left out", "not-allowed 1"), ("Outcomes", "delivered 2")]:
            expect(row.locator(f'[data-label="{label}"]')).to_have_text(text)
        expect(row.get_by_role("button", name="Cancel")).to_have_count(0)
        self.assertNotIn("Secret", self.page.content())

    def test_the_newest_job_is_first_and_is_cancelled_after_a_question(self):
        self.import_phones()
        ended = self.end_job()
        scheduled = self.create_job(**{"not-before": int(time.time()) + 3600})
        self.enter()
        rows = self.page.locator("#jobs tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_have_attribute("data-job", scheduled)
        expect(rows.nth(1)).to_have_attribute("data-job", ended)
        expect(self.job(scheduled)).to_contain_text("Scheduled")
        expect(self.job(scheduled)).to_contain_text("not before")
        for label in ["Matched", "Stored", "Left out", "Outcomes"]:
            expect(self.job(scheduled).locator(f'[data-label="{label}"]')).to_have_text("–")
        cancel = self.job(scheduled).get_by_role("button", name=f"Cancel the job {scheduled}")
        cancel.click()
        self.page.keyboard.press("Enter")
        expect(cancel).to_be_focused()
        expect(self.job(scheduled)).to_contain_text("Scheduled")
        cancel.click()
        dialog = self.page.get_by_role("dialog", name="Cancel this job?")
        expect(dialog).to_contain_text("No further push of the job is stored. This cannot be undone.")
        dialog.get_by_role("button", name="Cancel the job").click()
        expect(self.job(scheduled)).to_contain_text("Cancelled")
        expect(cancel).to_have_count(0)
        expect(self.page.locator("#jobs-title")).to_be_focused()
        self.assertEqual(self.ask("GET", f"/v1/apps/orders/jobs/{scheduled}")["state"], "cancelled")

    def test_a_failed_cancellation_is_shown_beside_its_button(self):
        self.allow_errors("status of 503")
        job = self.create_job(**{"not-before": int(time.time()) + 3600})
        self.enter()
        self.page.route(f"**/jobs/{job}", lambda route: route.fulfill(status=503, json={"detail": "the disk is full"}))
        self.job(job).get_by_role("button", name="Cancel").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
        expect(self.job(job).get_by_role("alert")).to_have_text("the disk is full")

    def test_a_job_that_reached_no_phone_does_not_look_successful(self):
        job = self.end_job()
        self.import_phones()
        self.set_faults({"do": "respond", "reason": "BadDeviceToken"})
        refused = self.end_job()
        self.enter()
        for each, text in [(job, "Ended: no phone matched"), (refused, "Ended: nothing delivered")]:
            chip = self.job(each).locator('[data-label="State"] .chip')
            expect(chip).to_have_text(text)
            expect(chip).to_have_attribute("data-tone", "warning")

    def test_the_jobs_stay_listed_when_they_cannot_be_requested(self):
        self.allow_errors("status of 503")
        self.import_phones()
        self.set_faults({"do": "respond", "reason": "TooManyRequests"})
        job = self.create_job()
        self.enter()
        expect(self.job(job)).to_contain_text("waiting 2")
        self.page.route("**/jobs?limit=*", lambda route: route.fulfill(status=503, json={"detail": "the disk is full"}))
        expect(self.page.locator("#jobs").get_by_role("alert")).to_have_text("The list of jobs is not current: the disk is full")
        expect(self.job(job)).to_contain_text("waiting 2")

    def test_ages_and_the_position_in_the_list_stay_true_while_a_job_makes_progress(self):
        self.import_phones()
        for _ in range(12):
            self.create_job(**{"not-before": int(time.time()) + 3600})
        self.enter()
        box = self.page.get_by_role("region", name="List of jobs")
        expect(box.locator("tbody tr")).to_have_count(12)
        self.evaluated(box, "box => { box.scrollTop = 100 }")
        age = box.locator("tbody th time").first
        shown = age.inner_text()
        expect(age).not_to_have_text(shown)
        # Another job replaces the list.
        self.create_job(**{"not-before": int(time.time()) + 3600})
        expect(box.locator("tbody tr")).to_have_count(13)
        self.assertEqual(self.evaluated(box, "box => box.scrollTop"), 100)

    def test_a_narrow_screen_has_one_scroll_and_shows_the_first_jobs(self):
        for _ in range(12):
            self.create_job(**{"not-before": int(time.time()) + 3600})
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.enter()
        box = self.page.get_by_role("region", name="List of jobs")
        expect(box.locator("tbody tr:visible")).to_have_count(10)
        self.assertEqual(self.evaluated(box, "box => box.scrollHeight - box.clientHeight"), 0)
        self.page.get_by_role("button", name="Show all 12 of the list of jobs").click()
        expect(box.locator("tbody tr:visible")).to_have_count(12)
        expect(box).to_be_focused()
        self.create_job(**{"not-before": int(time.time()) + 3600})
        expect(box.locator("tbody tr:visible")).to_have_count(13)
        expect(box).to_be_focused()

    def test_phones_are_counted_on_request(self):
        self.import_phones()
        self.enter()
        phones = self.page.locator("#phones")
        expect(phones).to_contain_text("Not counted")
        self.page.get_by_role("button", name="Count").press("Enter")
        orders = phones.locator('tr[data-app="orders"]')
        for label, text in [("Phones", "3"), ("An alert reaches", "2"), ("Left out", "not-allowed 1"), ("Environment", "development 3"),
                            ("Permissions", "alerts 1 of 2")]:
            expect(orders.locator(f'[data-label="{label}"]')).to_have_text(text)
        for label, texts in [("System", ["26.1 2", "unknown 1"]), ("App version", ["2.10 1", "2.9 1", "unknown 1"])]:
            for text in texts:
                expect(orders.locator(f'[data-label="{label}"]')).to_contain_text(text)
        expect(phones).to_contain_text(re.compile(r"Phones that match all, counted at \d+:\d\d:\d\d"))
        expect(phones.locator('tr[data-app="rides"]')).to_have_count(0)
        expect(phones).to_contain_text("No phone of rides matches.")
        expect(self.page.get_by_role("button", name="Count")).to_be_focused()
        self.page.get_by_label("Expression that the phones match").fill("vip")
        self.page.keyboard.press("Enter")
        expect(orders.locator('[data-label="Phones"]')).to_have_text("1")
        expect(phones).to_contain_text("Phones that match vip, counted at")
        self.page.get_by_label("Expression that the phones match").fill("nobody")
        self.page.keyboard.press("Enter")
        expect(phones).to_contain_text("No phone of orders or rides matches.")
        expect(phones.locator("table")).to_have_count(0)

    def test_a_wrong_expression_is_explained(self):
        self.allow_errors("status of 400")
        self.enter()
        self.page.get_by_label("Expression that the phones match").fill("vip &&")
        self.page.get_by_role("button", name="Count").click()
        expect(self.page.locator("#phones").get_by_role("alert")).to_contain_text("where")

    def test_a_user_is_looked_up_without_whole_tokens_and_payloads(self):
        self.import_phones()
        job = self.end_job()
        self.enter(SUPPORT)
        self.look_up("anna")
        user = self.page.locator("#user")
        expect(user.get_by_role("heading", name="1 phone of anna in orders")).to_be_visible()
        phone = user.get_by_role("table", name="Phones of the user").locator("tbody tr")
        for text in ["iPhone17,1, 26.1", "2.10", "device 5d3a6a1c…", "order-17", "1 ended", "alerts", "vip"]:
            expect(phone).to_contain_text(text)
        push = user.get_by_role("table", name="Pushes to the user").locator("tbody tr")
        expect(push).to_have_count(1)
        expect(push).to_contain_text("delivered")
        expect(push.get_by_role("button", name=f"Copy identifier of the job {job}")).to_have_text(f"…{job[-12:]}")
        expect(user).to_contain_text("Looked up at")
        for secret in [ANNA, "Secret"]:
            self.assertNotIn(secret, self.page.content())
        self.look_up("anna", "rides")
        expect(user).to_contain_text("Nothing is stored")

    def test_a_waiting_push_of_a_user_shows_the_last_answer(self):
        self.import_phones()
        self.set_faults({"do": "respond", "reason": "TooManyRequests"})
        self.create_job()
        self.wait_until(lambda: self.lane_sum(lambda lane: lane["retrying"]) == 2)
        self.enter(SUPPORT)
        self.look_up("anna")
        push = self.page.get_by_role("table", name="Pushes to the user").locator("tbody tr")
        expect(push.locator('[data-label="State"]')).to_have_text("waiting")
        expect(push.locator('[data-label="Apple\'s last answer"]')).to_have_text("429 TooManyRequests")

    def test_a_found_user_is_gone_after_the_sign_out(self):
        self.import_phones()
        self.enter(SUPPORT)
        self.look_up("anna")
        expect(self.page.locator("#user")).to_contain_text("1 phone of anna")
        self.page.get_by_role("button", name="Sign out").click()
        self.page.get_by_label("API key").fill(KEY)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.locator("#user")).to_contain_text("needs a key with the scope installations")
        expect(self.page.locator("#user-form")).to_be_hidden()
        self.assertNotIn("anna", self.page.content())

    def test_a_reader_sees_jobs_and_the_missing_scopes(self):
        job = self.end_job()
        self.enter(READER)
        expect(self.job(job)).to_contain_text("Ended")
        expect(self.page.locator("#jobs")).to_contain_text("Cancelling a job needs a key with the scope send.")
        expect(self.page.locator("#phones")).to_contain_text("needs a key with the scope send")
        expect(self.page.locator("#phones-form")).to_be_hidden()
        expect(self.page.locator("#user-form")).to_be_hidden()

    def test_the_figure_of_surfaces_has_their_staleness(self):
        self.import_phones()
        self.enter()
        expect(self.page.locator(".tile")).to_have_count(4)
        before = self.lane_sum(lambda lane: lane["outcomes"]["delivered"])
        for change in [1, 2]:
            snapshot = {"schemaVersion": "5", "id": f"order-17@{change}", "surfaceId": "order-17", "kind": "widget",
                        "updatedAt": "2026-05-12T18:31:00.000Z", "state": "active",
                        "widget": {"title": f"Stop {change}", "body": "On its way", "progress": 0.5,
                                   "deepLink": "shop://orders/17", "family": "systemMedium"}}
            self.ask("PUT", "/v1/apps/orders/surfaces/order-17", {"to": {"user": "anna"}, "snapshots": [snapshot]})
            self.wait_until(lambda: self.lane_sum(lambda lane: lane["outcomes"]["delivered"]) == before + change)
        expect(self.tile("Staleness")).to_contain_text("1 surface")
        expect(self.tile("Staleness")).to_contain_text(re.compile(r"p95 of 5 min, p50 .* s, maximum .* s"))
        expect(self.page.locator(".tile")).to_have_count(5)

    def test_every_width_in_light_and_dark_mode(self):
        self.import_phones()
        self.end_job()
        self.create_job(to={"where": " && ".join(f"tag-{number}" for number in range(19))}, **{"not-before": int(time.time()) + 3600})
        self.enter(SUPPORT)
        expect(self.page.locator("#jobs tbody tr")).to_have_count(2)
        self.page.get_by_role("button", name="Count").click()
        expect(self.page.locator("#phones tbody tr")).to_have_count(1)
        self.look_up("anna")
        expect(self.page.locator("#user tbody tr")).to_have_count(2)
        for width in [1440, 1024, 390]:
            for scheme in ["light", "dark"]:
                self.page.set_viewport_size({"width": width, "height": 800})
                # A colour that is still changing has no contrast of its own.
                self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                self.wait_until(lambda: self.page.evaluate("document.documentElement.scrollWidth") == width, f"the page is not {width} wide")
                self.wait_until(lambda: self.page.evaluate("document.querySelector('.page').scrollWidth") <= width, f"more than {width} wide")
                assert_accessible(self, f"{scheme} {width}")
                assert_contrast(self, f"{scheme} {width}")


if __name__ == "__main__":
    unittest.main()
