# SPDX-License-Identifier: Apache-2.0

"""The faults: presets, rules with the pushes they have affected, and the seed."""

import unittest

from pages_walk import TAXI, PagesWalk
from playwright.sync_api import expect


class Faults(PagesWalk):
    def test_faults(self):
        self.open()
        self.go("faults")
        indicator = self.page.locator("#faults-on")
        expect(self.page.locator("#page")).to_contain_text("No active rules")
        expect(indicator).to_be_hidden()
        flaky = self.page.get_by_role("button", name="flaky")
        flaky.click()
        expect(flaky).to_have_attribute("aria-pressed", "true")
        expect(indicator).to_have_text("3 faults active")
        flaky.click()
        expect(flaky).to_have_attribute("aria-pressed", "false")
        expect(indicator).to_be_hidden()
        refused = self.page.get_by_role("button", name="key-refused")
        refused.click()
        expect(self.page.get_by_role("table", name="Active rules")).to_contain_text("The response is InvalidProviderToken")
        refused.click()
        expect(indicator).to_be_hidden()
        form = self.page.get_by_role("form", name="Add a rule")
        form.get_by_label("Fault").select_option("respond")
        form.get_by_label("reason").fill("TooManyRequests")
        form.get_by_label("retry-after").fill("3")
        form.get_by_label("Maximum number of times").fill("1")
        form.get_by_label("topic").fill(TAXI)
        form.get_by_role("button", name="Add rule").click()
        rule = {"do": "respond", "reason": "TooManyRequests", "retry-after": 3, "count": 1, "match": {"topic": TAXI}}
        rules = self.page.get_by_role("table", name="Active rules")
        expect(rules.locator("tbody tr")).to_have_count(1)
        expect(rules).to_contain_text(f"every push, at most once, with the topic {TAXI}")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["rules"], [rule])
        for name in ["devices", ""]:
            self.page.goto(f"{self.simulator.url}/#/{name}")
            expect(indicator).to_have_text("1 fault active")
        self.go("faults")
        self.page.reload()
        expect(indicator).to_have_text("1 fault active")
        seed = self.page.get_by_role("textbox", name="Seed")
        expect(seed).not_to_have_value("")
        seed.fill("-9007199254740993")
        with self.page.expect_response(lambda answer: answer.request.method == "PUT"):
            seed.press("Enter")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["seed"], -9007199254740993)
        self.assertEqual(self.simulator.ask("GET", "/api/v1/chaos")["rules"], [rule])

    def test_stopping_all_faults_can_be_undone(self):
        self.simulator.ask("PUT", "/api/v1/chaos", {"presets": ["flaky", "slow"], "seed": 7})
        before = self.simulator.ask("GET", "/api/v1/chaos")
        self.open()
        self.go("faults")
        self.page.get_by_role("button", name="Stop all faults").click()
        expect(self.page.locator(".toast")).to_contain_text("Stopped 4 faults.")
        expect(self.page.locator("#page")).to_contain_text("No active rules")
        self.undo()
        expect(self.page.locator("#page .title")).to_contain_text("4 active")
        after = self.simulator.ask("GET", "/api/v1/chaos")
        self.assertEqual((after["rules"], after["seed"]), (before["rules"], 7))
        self.page.get_by_role("button", name="Remove rule 1").click()
        expect(self.page.locator("#page .title")).to_contain_text("3 active")
        self.undo()
        expect(self.page.locator("#page .title")).to_contain_text("4 active")

    def test_a_rule_counts_the_pushes_that_it_has_affected(self):
        self.simulator.ask("PUT", "/api/v1/chaos", {"rules": [
            {"do": "respond", "reason": "TooManyRequests", "count": 3, "match": {"topic": TAXI}}, {"do": "throttle", "limit": 1000}]})
        self.open()
        self.go("faults")
        row = self.row("The response is TooManyRequests")
        expect(row).to_contain_text("0 of 3")
        self.send("ab" * 8, {"aps": {"alert": "One"}})
        self.send("ab" * 8, {"aps": {"alert": "Two"}})
        self.send("ab" * 8, {"aps": {"alert": "Other"}}, topic="com.example.other")
        expect(row).to_contain_text("2 of 3")
        expect(row.locator("td[data-label=Last] time")).to_have_count(1)
        expect(self.row("A device gets 429 TooManyRequests after 1,000 pushes in a second").locator("td[data-label='Pushes affected']")).to_have_text("0")
        row.get_by_role("link", name="2 of 3").click()
        expect(self.page.locator("#detail h2")).to_have_text("Two")

    def test_a_fault_of_answers_does_not_count_a_composed_push(self):
        self.simulator.ask("PUT", "/api/v1/chaos", {"presets": ["slow"]})
        self.send("ab" * 8, {"aps": {"alert": "One"}})
        self.open()
        self.go("faults")
        row = self.row("The response comes after 0.2 to 2 s")
        expect(row.locator("td[data-label='Pushes affected']")).to_have_text("0")
        expect(row.locator("td[data-label=Last]")).to_have_text("never")

    def test_an_invalid_rule_is_explained_in_the_form(self):
        self.allow_errors("status of 400")
        self.open()
        self.go("faults")
        form = self.page.get_by_role("form", name="Add a rule")
        form.get_by_label("Fault").select_option("delay")
        form.get_by_label("seconds").fill("-5")
        form.get_by_role("button", name="Add rule").click()
        expect(form.get_by_role("alert")).to_contain_text("seconds")

    def test_the_fields_of_the_form_have_equal_heights(self):
        self.open()
        self.go("faults")
        inputs = self.page.locator(".builder .rule-fields :is(input:not([type=checkbox]), select)")
        expect(inputs.first).to_be_visible()
        self.assertEqual(len(set(inputs.evaluate_all("all => all.map((each) => each.getBoundingClientRect().height)"))), 1)


if __name__ == "__main__":
    unittest.main()
