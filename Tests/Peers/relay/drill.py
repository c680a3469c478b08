# SPDX-License-Identifier: Apache-2.0

"""The base class of the outage drills: reads the first screen each second, and compares it with what others know.

A case breaks something under a relay that takes pushes, and repairs it. Each sentence of the banner belongs to a claim, and
a claim may only be made while it is true. The client knows how many pushes were accepted and refused, and the simulator how
many have arrived.
"""

import json
import re
import time
import urllib.parse
import urllib.request

from playwright.sync_api import expect
from relay_walk import RelayWalk

# The limit in seconds for the relay's own times and one request of the page for the status.
LIMIT = 5
# The time in seconds for which each case lasts after it is shown.
HOLD = 2
# The age in seconds that the figures on the screen may have, and the number of pushes by which they may differ: pushes that
# arrive, while their answer is lost or has not reached the relay yet, are known to one side only.
AGE = 4
SLACK = 100
NAMES = "orders, rides and wallet"
CLOCK = re.compile(r"since \d\d?:\d\d( [AP]M)? \(\d+ (s|min)\)")
# The claims without a time since which they are true.
TIMELESS = ["missing", "duplicate"]
# The claims, by the beginnings of the sentences that make them.
TITLES = {
    "calm": r"(All 3 apps (deliver|are ready)\.|[\w, ]+ delivers?, [\w, ]+ (is|are) ready\.)( (No push waits|[\d,]+ push(es)? waits?)\.)?$",
    "down": r"(Apple cannot be reached|Connections to Apple are reset|Nothing is delivered) for ",
    "silent": "Apple does not answer for ",
    "refused": r"Apple refuses (the key|\d+ keys) ",
    "errors": "Apple answers with errors for ",
    "not-accepted": "Apple accepts no push of ",
    "retrying": r"[\d,]+ push(es)? of .* being sent again",
    "paused": ".* (is|are) paused by operator",
    "full": "The disk is full",
    "low": "The disk of the outbox is nearly full",
    "away": "The database (does not answer|stores no pushes)",
    "outdated": "The data about the other relays is outdated",
    "missing": r"Relay \d+ \(\w+\) is missing",
    "duplicate": r"Relays \d+ and \d+ have the same name, ",
    "untried": ".* (has|have) not been tried",
    "over": "The (outage|pause) of .* is over",
}


class Drill(RelayWalk):
    apps = ["orders", "rides", "wallet"]

    def setUp(self):
        super().setUp()
        # A relay that stores nothing refuses requests for dead letters, too.
        self.allow_errors("status of 503")
        # The claims that may be made beside that of the case: those of earlier cases.
        self.earlier = set()
        self.arrived_before = 0
        self.facts = []
        # The time of what was broken, until the relay shows it: its figures may be those of before.
        self.unnoticed_since = None

    def open(self):
        self.enter()
        expect(self.page.locator("#incidents")).to_contain_text(re.compile(r"All 3 apps (deliver|are ready)\."))

    # What others know.

    def arrived(self):
        """The number of pushes that the simulators have accepted, each counted once."""
        query = urllib.parse.urlencode({"query": "status:200", "limit": 1})
        try:
            return self.arrived_before + json.load(urllib.request.urlopen(f"{self.inbox}pushes?{query}"))["total"]
        except OSError:
            return self.arrived_before

    def stop_simulator(self):
        self.arrived_before = self.arrived()
        self.simulator.stop()

    def record_facts(self):
        waiting = self.traffic.accepted - self.arrived()
        self.facts.append((time.monotonic(), waiting, self.traffic.refused))

    def recent(self, index):
        """The range of a fact in the time of the figures on the screen."""
        start = (self.unnoticed_since or time.monotonic()) - AGE
        values = [fact[index] for fact in self.facts if fact[0] >= start]
        return min(values) - SLACK, max(values) + SLACK

    # What the screen says.

    def read(self, allowed):
        """Reads the first screen, and fails if a sentence is not true; returns the claims."""
        self.record_facts()
        # The sentences of a line that is closed are also those of the relay, and must be true.
        texts = self.page.locator("#incidents .banner").evaluate_all("""banners => banners.map((banner) =>
            [...banner.querySelectorAll("p, summary")].map((part) => part.textContent.trim()).join("\\n"))""")
        waiting = self.tile("Waiting").inner_text().split("\n")[0]
        cells = self.page.locator('#lanes [data-label="In flight"]').all_inner_texts()
        in_flight = [int(number) for cell in cells for number in re.findall(r"\d+", cell.replace(",", ""))]
        self.record_facts()
        claims = set()
        for text in texts:
            title = text.split("\n")[0]
            claim = next((name for name, pattern in TITLES.items() if re.match(pattern, title)), None)
            self.assertIsNotNone(claim, f"no claim has this sentence: {text}")
            self.assertIn(claim, allowed | self.earlier, f"this is not true: {text}")
            claims.add(claim)
            self.assertNotRegex(text, "(push has|pushes have) expired[;,.]|(was|were) abandoned|refused\\.", "nothing is lost in this drill")
            for count in re.findall(r"refused with 503, ([\d,]+) (?:by this relay )?so far", text):
                self.assert_within(int(count.replace(",", "")) + self.refused_before, self.recent(2), text)
            if NAMES in title:
                for count in re.findall(r"([\d,]+) push(?:es)? waits?", text):
                    self.assert_within(int(count.replace(",", "")), self.recent(1), text)
        if waiting != "unknown":
            low, high = self.recent(1)
            self.assert_within(int(waiting.replace(",", "")), (low - sum(in_flight), high), "the tile Waiting")
        return claims

    def assert_within(self, number, limits, place):
        self.assertTrue(limits[0] <= number <= limits[1], f"{place}: {number} is not within {limits}")

    def read_until(self, condition, allowed, name):
        start = time.monotonic()
        self.wait_until(lambda: condition(self.read(allowed)), f"{name} is not shown")
        return time.monotonic() - start

    def drill(self, claim, kind, break_it, repair, *texts, also=(), before=(), unknown=(), limit=LIMIT):
        """Breaks something, expects the incident of a kind with these texts on the first screen, and repairs it.

        The incident makes the claim; `also` are further claims that are true meanwhile, `before` those that are true until it
        is shown, and `unknown` the tiles without a value.
        """
        allowed = {claim, *also}
        self.refused_before = self.traffic.refused
        self.unnoticed_since = time.monotonic()
        break_it()
        took = self.read_until(lambda claims: claim in claims, allowed | {"calm", *before}, claim)
        self.unnoticed_since = None
        self.assert_fast(claim, took, limit)
        banner = self.banner(kind).first
        expect(banner).to_be_in_viewport(ratio=1)
        expect(self.page.locator("#incidents > :first-child")).to_have_attribute("data-kind", kind)
        for text in [*texts, *([] if claim in TIMELESS else [CLOCK])]:
            expect(banner).to_contain_text(text)
        for name in unknown:
            expect(self.tile(name)).to_contain_text("unknown")
        for _ in range(HOLD):
            self.page.wait_for_timeout(1000)
            self.assertIn(claim, self.read(allowed))
        self.earlier |= {"over", "retrying", "untried"}
        repair()
        took = self.read_until(lambda claims: claim not in claims and "calm" in claims, allowed | {"calm"}, "calm")
        print(f"{self.id()}: {claim} is over after {took:.1f} s", flush=True)
