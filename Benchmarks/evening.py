# SPDX-License-Identifier: Apache-2.0

"""The staleness of Live Activities, measured with an evening that another project has published.

https://github.com/mithileshchellappan/pushboy/issues/41 has the numbers of 23 May 2026, 19:45 to 21:45 UTC: 30,156
starts of a Live Activity took 1,270 s. 153 changes, one about every 30 s, were sent to 12,139 tokens on average; a
change was sent to all of them after 1,338 s in the median, and after 2,315 s at the 95th percentile. 22,912 sends timed
out. Apple answered 4,268 sends with ExpiredToken, and the tokens stayed.

Here, a relay brings one surface to as many phones at the same pace. In proportion, as many sends get no answer, and as
many tokens expire. The option --updates is the number of changes. The phones, Apple's part and the relay share both
cores. The phones are imported with their start tokens; a part of them answers a start with a report of the Live
Activity and its token, with the key of the back end, because an imported installation has no secret.

The staleness is the time from the request that changes the surface until the simulator has received the first push to a
phone with that change, or with a later one, that it answers with 200. A phone counts from the answer to its report on.
One whose push gets no answer counts, too: the relay sends again after its timeout. The relay's own metric leaves out
a phone whose surface has changed again before Apple accepted the change.

The evening is measured once, because it takes minutes.
"""

import array
import concurrent.futures
import contextlib
import dataclasses
import functools
import http.client
import json
import random
import re
import sys
import time
import uuid

from measuring import Figure, Sample, peak_megabytes, server_seconds, show_progress
from relay import Relay
from servers import free_port

FIGURES = [
    Figure("evening", "95th percentile of the staleness of Live Activities", "evening", "5 s", "work_us", 1),
    Figure("evening-metric", "the same by the relay's metric", "evening-metric", "evening", "work_us"),
    Figure("evening-work", "an update decided, stored and delivered, compared with a push", "evening", "relay"),
    Figure("evening-memory", "memory of the relay during the evening", "evening", "80 MB", "peak_mb"),
]
# The published numbers of starts, of tokens for updates, of changes, of seconds between changes, and of sends that timed
# out or that Apple answered with ExpiredToken.
STARTS, CARDS, CHANGES, PACE, TIMEOUTS, EXPIRED = 30_156, 12_139, 153, 30, 22_912, 4_268
APP, SURFACE = "evening", "race"
# The longest time until the last change has reached all phones, in seconds: several sends to one may get no answer.
SETTLING_TIME = 300
# The number of phones that report at once: the relay answers a report when it has sent the pushes that it holds.
REPORTERS = 256
# The maximum number of pushes in an answer of the simulator, and of entries in a list of the relay.
PUSH_LIMIT, LIST_LIMIT = 5_000, 1_000


@dataclasses.dataclass
class Card:
    """A Live Activity on a phone."""
    phone: int
    expires_with: int
    """The number of the change from which on its token has expired; 0 if it does not expire."""
    next: int | None = None
    """The number of the first change that counts and was not shown; None while the report is not answered."""
    is_expired: bool = False
    """Whether Apple has answered that the token has expired."""


class Apple:
    """A simulator that keeps the pushes until they are read."""

    def __init__(self, world, limit):
        self.inbox_port, port = free_port(), free_port()
        directory = world.directory / "authority"
        self.process = world.start(
            port, world.martlet, "simulate", "--quiet", "--port", str(port), "--channel-port", "0", "--inbox-port",
            str(self.inbox_port), "--ca-directory", str(directory), "--keep", str(limit), cores="0,1")
        self.endpoint = {"host": "127.0.0.1", "port": port, "authorities": str(directory / "ca.pem")}
        # The number of the last push that was read.
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None):
        """Returns the JSON of the answer to a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.inbox_port)
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            sys.exit(f"bench: the simulator answers {answer.status} to {method} {path}: {text}")
        return json.loads(text)

    def set_faults(self, change):
        """Gives a part of the sends no answer, and lets the tokens expire that expire with a change or one before."""
        expired = [
            {"do": "respond", "reason": "ExpiredToken", "match": {"device-suffix": suffix(number)}}
            for number in range(1, change + 1)]
        hung = {"do": "hang", "probability": TIMEOUTS / (STARTS + CHANGES * CARDS)}
        # The relay sends to an expired token within the next changes or never again.
        self.ask("PUT", "/api/v1/chaos", json.dumps({"seed": change, "rules": [hung, *expired[-10:]]}))

    def count(self):
        """Returns the number of pushes that were received."""
        return sum(push["number"] for push in self.ask("GET", "/api/v1/pushes?view=summary&limit=1")["pushes"])

    def new_pushes(self):
        """Returns the pushes since the last call, oldest first."""
        pushes, before = [], ""
        while True:
            page = self.ask("GET", f"/api/v1/pushes?view=summary&limit={PUSH_LIMIT}{before}")["pushes"]
            found = [push for push in page if push["number"] > self.last]
            pushes += found
            if len(found) < PUSH_LIMIT:
                break
            before = f"&before={found[-1]['number']}"
        if pushes and pushes[0]["number"] != self.last + len(pushes):
            sys.exit("bench: the simulator has dropped pushes before they were read")
        self.last += len(pushes)
        return pushes[::-1]


class Evening:
    """The phones with one surface, and the times at which they showed its changes."""

    def __init__(self, world):
        self.world = world
        self.tokens = random.Random(41)
        self.ids = [
            str(uuid.UUID(int=self.tokens.getrandbits(128), version=4))
            for _ in range(min(STARTS, world.installations))]
        self.start_tokens = {self.token(): phone for phone in range(len(self.ids))}
        # The phones that report, with the change from which on their first token has expired.
        self.expiries = {
            phone: 0 for phone in range(len(self.ids)) if phone * CARDS // STARTS < (phone + 1) * CARDS // STARTS}
        expiring = len(self.expiries) * EXPIRED * world.updates // (CARDS * CHANGES)
        for index, phone in enumerate(random.Random(42).sample(sorted(self.expiries), expiring)):
            self.expiries[phone] = 1 + index % world.updates
        self.cards = {}
        self.reports = []
        # The times of the changes in seconds since 1970, of which the first starts the Live Activities.
        self.changes = []
        # The seconds from it until the first accepted start of each phone, and those from a change to an accepted update.
        self.start_times = {}
        self.staleness = array.array("d")
        self.unanswered = 0

    def token(self, expires_with=0):
        """Returns a new token, whose end tells when it expires."""
        return f"{self.tokens.getrandbits(240):060x}{suffix(expires_with)}"

    @functools.cached_property
    def samples(self):
        """The samples by the names of the runs."""
        apple = Apple(self.world, 2 * len(self.ids))
        with log_without_audit(self.world) as log, apple, Relay(self.world, apple.endpoint, apps=(APP,), log=log) as relay:
            self.import_phones(relay)
            process, apples_process = relay.process.pid, apple.process.pid
            start, cpu, apples_cpu = time.monotonic(), -server_seconds(process), -server_seconds(apples_process)
            with concurrent.futures.ThreadPoolExecutor(REPORTERS) as callers:
                for change in range(self.world.updates + 1):
                    self.follow(apple, relay, callers, until=start + change * PACE)
                    if change == 1:
                        updates_cpu = -server_seconds(process)
                    self.change(apple, relay, change)
                self.settle(apple, relay, callers)
            seconds, apples_cpu = time.monotonic() - start, apples_cpu + server_seconds(apples_process)
            cpu, updates_cpu = cpu + server_seconds(process), updates_cpu + server_seconds(process)
            expired = self.check_expired(relay)
            memory, metric = peak_megabytes(process), StalenessMetric(relay)
        starts, staleness = sorted(self.start_times.values()), sorted(self.staleness)
        account = [
            f"{len(starts):,} starts accepted, 95 % of them within {percentile(starts, 95):.1f} s",
            f"{len(staleness):,} updates after {self.world.updates} changes, one every {PACE} s: staleness "
            f"{percentile(staleness, 50):.2f} s in the median, {percentile(staleness, 95):.2f} s at the 95th percentile, "
            f"{percentile(staleness, 100):.2f} s at most",
            f"{metric.count:,} updates by the relay's metric: {metric.percentile(50):.2f} s and {metric.percentile(95):.2f} s",
            f"{self.unanswered:,} pushes without an answer, {expired:,} expired tokens, all of them removed",
            f"{cpu:.1f} s of CPU time and {memory:.0f} MB of the relay, {apples_cpu:.1f} s of the simulator, in {seconds:.0f} s",
        ]
        return {
            "evening": Sample(
                cpu_us=updates_cpu * 1e6 / len(staleness), work_us=percentile(staleness, 95) * 1e6, peak_mb=memory,
                account="\n".join(account)),
            "evening-metric": Sample(work_us=metric.percentile(95) * 1e6),
        }

    def import_phones(self, relay):
        """Imports the installations with their start tokens."""
        lines = "\n".join(
            json.dumps({
                "id": self.ids[phone], "user": f"fan-{phone}", "environment": "production",
                "tokens": {"start": {"SurfaceActivityAttributes": token}}, "permissions": {"frequent-updates": True}})
            for token, phone in self.start_tokens.items())
        answer = json.loads(relay.ask("POST", f"/v1/apps/{APP}/installations", lines))
        if answer["added"] != len(self.ids):
            sys.exit(f"bench: the relay imported {answer['added']} of {len(self.ids)} phones: {answer['problems'][:1]}")

    def change(self, apple, relay, number):
        """Changes the surface, and lets the tokens expire that expire with the change."""
        apple.set_faults(number)
        request = surface_request(APP, SURFACE, number, {"all": True}, f"Lap {number}", number / self.world.updates)
        self.changes.append(time.time())
        relay.ask(*request)

    def follow(self, apple, relay, callers, until):
        """Reads pushes until a time, and answers starts with reports."""
        while time.monotonic() < until:
            self.read(apple, relay, callers)
            show_progress(f"evening: {len(self.changes) - 1} of {self.world.updates} changes, {len(self.cards):,} reports")
            # Reading takes CPU time, so it is rare after the reports.
            pause = 1 if len(self.cards) < len(self.expiries) else 10
            time.sleep(max(0, min(pause, until - time.monotonic())))

    def settle(self, apple, relay, callers):
        """Waits until each phone shows the last change, or Apple has answered that its token has expired."""
        end = time.monotonic() + SETTLING_TIME
        while waiting := self.waiting():
            if time.monotonic() > end:
                sys.exit(f"bench: the last push of {waiting:,} phones has not arrived after {SETTLING_TIME} s")
            self.follow(apple, relay, callers, until=time.monotonic() + 1)
        # The relay stores the last answers, and a push to an expired token would be sent now.
        self.follow(apple, relay, callers, until=time.monotonic() + 5)
        self.read(apple, relay, callers)

    def waiting(self):
        """Returns the number of phones without a start, and of Live Activities whose last push has not arrived."""
        count = len(self.changes)
        return len(self.ids) - len(self.start_times) + sum(
            not card.is_expired if 0 < card.expires_with < count else card.next != count for card in self.cards.values())

    def read(self, apple, relay, callers):
        """Records the pushes that Apple has received."""
        for push in apple.new_pushes():
            token, status, at = push["device-token"], push["status"], push["time-ms"] / 1_000
            change = int(push["payload"]["aps"]["content-state"]["headline"].split()[-1])
            phone = self.start_tokens.get(token)
            if status == 0:
                self.unanswered += 1
            elif status == 200 and phone is not None:
                self.start_times.setdefault(phone, at - self.changes[0])
                if phone in self.expiries:
                    self.reports.append(callers.submit(self.report, relay, *self.new_card(phone)))
            elif status in (200, 410) and phone is None:
                self.record(self.cards[token], status, change, at)
            else:
                sys.exit(f"bench: Apple answers {status} {push.get('reason')} to a push")
        done = [report for report in self.reports if report.done()]
        self.reports = [report for report in self.reports if not report.done()]
        for report in done:
            # Ends the benchmark if the relay has refused the report.
            report.result()

    def new_card(self, phone):
        """Returns the token and the Live Activity that a push has started; only the first one of a phone expires."""
        expiry = self.expiries[phone]
        self.expiries[phone] = 0
        card = Card(phone, expiry if expiry >= len(self.changes) else 0)
        token = self.token(card.expires_with)
        self.cards[token] = card
        return token, card

    def report(self, relay, token, card):
        """Reports a Live Activity, which counts from the answer on."""
        activity = {"surface": SURFACE, "token": token, "started-at": round(time.time() * 1_000), "started-by": "push"}
        body = json.dumps({"activities": {token[:32]: activity}})
        relay.ask("PATCH", f"/v1/apps/{APP}/installations/{self.ids[card.phone]}", body)
        card.next = len(self.changes)

    def record(self, card, status, change, at):
        """Records the answer to a push with a change."""
        if card.is_expired:
            sys.exit("bench: the relay has sent to a token after Apple's answer that it has expired")
        if status == 410:
            card.is_expired = True
        elif card.next is not None:
            self.staleness.extend(at - self.changes[number] for number in range(card.next, change + 1))
            card.next = max(card.next, change + 1)

    def check_expired(self, relay):
        """Checks that the relay has removed and listed each expired token; returns the number of these."""
        expired = {token for token, card in self.cards.items() if card.is_expired}
        known = {
            activity.get("token") for installation in entries(relay, "installations")
            for activity in installation["activities"].values()}
        listed = {entry["token"] for entry in entries(relay, "unregistered-tokens")}
        if expired & known or expired != listed:
            sys.exit(f"bench: of {len(expired):,} expired tokens, installations have {len(expired & known):,}, and "
                     f"{len(expired - listed):,} are not listed as unregistered")
        return len(expired)


class StalenessMetric:
    """The relay's histogram of the staleness, in seconds."""

    def __init__(self, relay):
        buckets = re.findall(
            r'^martlet_relay_surface_staleness_seconds_bucket\{.*\ble="(.+?)".*\} (\S+)$', relay.ask("GET", "/metrics"),
            re.M)
        self.buckets = [(float(bound), int(float(count))) for bound, count in buckets]
        self.count = self.buckets[-1][1]

    def percentile(self, share):
        """Returns a percentile, between the bounds of its bucket in proportion, as `histogram_quantile` does."""
        rank, lower, below = self.count * share / 100, 0, 0
        for bound, count in self.buckets:
            if count >= rank and count > below:
                return lower if bound == float("inf") else lower + (bound - lower) * (rank - below) / (count - below)
            lower, below = bound, count
        return 0


@contextlib.contextmanager
def log_without_audit(world):
    """A file for a log, of which all but the audit log, with a line for each report, is printed in the end."""
    with (world.directory / "evening.log").open("w+") as log:
        try:
            yield log
        finally:
            log.seek(0)
            sys.stderr.writelines(line for line in log if '"msg":"audit"' not in line)


def surface_request(app, surface, version, to, title, progress):
    """Returns the request that stores a version of a Live Activity."""
    snapshot = {
        "schemaVersion": "5", "id": f"{surface}@{version}", "surfaceId": surface, "kind": "liveActivity",
        "updatedAt": "2026-05-23T19:45:00.000Z", "state": "active",
        "liveActivity": {
            "title": title, "body": "The first five are within a second", "progress": progress, "deepLink": f"app://{surface}",
            "modeLabel": "Race", "stage": "inProgress"}}
    return "PUT", f"/v1/apps/{app}/surfaces/{surface}", json.dumps({"to": to, "snapshots": [snapshot]})


def entries(relay, name):
    """Returns the entries of a list of the relay."""
    after = 0
    while (page := json.loads(relay.ask("GET", f"/v1/apps/{APP}/{name}?limit={LIST_LIMIT}&after={after}")))[name]:
        yield from page[name]
        after = page["cursor"]


def percentile(values, share):
    """Returns the value that a share of the sorted values, in percent, does not exceed."""
    return values[max(0, -(-len(values) * share // 100) - 1)]


def suffix(change):
    """Returns the end of the tokens that expire with a change; with 0, they do not expire."""
    return f"{change:04x}"


# One for all figures.
evening = functools.cache(Evening)


def runs(world):
    return {
        "evening": lambda: evening(world).samples["evening"],
        "evening-metric": lambda: evening(world).samples["evening-metric"],
        "5 s": lambda: Sample(work_us=5_000_000),
    }
