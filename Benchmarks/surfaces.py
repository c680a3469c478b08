# SPDX-License-Identifier: Apache-2.0

"""The performance of many surfaces over many installations: storing them, storing them again, changing them, and memory.

There is one surface for every tenth installation, at most as many as an app may have: a Live Activity of one user,
whose installation is imported with the Live Activity and its token. Each figure is measured with a file and with
PostgreSQL (`fleet-`). One relay does, one after another:

- pushes to users, after which its memory counts as that before the surfaces;
- a `PUT` for each surface, until the relay has recorded Apple's answer to the push of each, which it does ten seconds
  after the answer. Its memory is read after a pause;
- pushes to users, with which the cost of the following requests is compared;
- requests that change nothing. The measurement fails if one stores a page of an audience, a step of a session or a
  push, if Apple receives a push, or if the store writes more than one row for each: rows in PostgreSQL, pages of a file;
- a change of some surfaces, until the relay has recorded Apple's answers;
- a change of other surfaces, at a fixed rate. The staleness is the time from the request until the simulator has
  received the push.

Answers are recorded ten seconds late at any number of surfaces, so few surfaces are stored at a low rate. The figures
are measured once, because they take minutes.
"""

import functools
import pathlib
import random
import re
import sys
import time

from crowd import APP, Crowd, FleetCrowd, Phones, new_token, push_request
from evening import Apple, percentile, surface_request
from measuring import Figure, Sample, memory, peak_megabytes, server_seconds, show_progress

# The number of installations for each surface, and the maximum number of surfaces of an app.
PHONES_PER_SURFACE, SURFACE_LIMIT = 10, 100_000
# The number of pushes to users, of requests that change nothing, and of changes whose cost is measured.
REQUESTS = 4_000
# The changes in a second of those whose staleness is measured, and their number.
CHANGE_RATE, PACED_CHANGES = 50, 500
# The longest time until all answers of Apple are recorded, in seconds.
SETTLING_TIME = 1_800
# The pause in which an idle relay may return memory and PostgreSQL counts all rows, in seconds.
PAUSE = 11
# The bytes of a page of a file.
PAGE = 4_096


def figures(prefix, store):
    return [
        Figure(f"{prefix}surfaces", f"surfaces stored per second, until Apple's answers are recorded, {store}",
               f"{prefix}surfaces", "100 000 / 10 min", "rate", 1),
        Figure(f"{prefix}surface-same", f"a request that changes nothing, compared with a push to a user, {store}",
               f"{prefix}surface-same", f"{prefix}surface-user", goal=1),
        Figure(f"{prefix}surface-change", f"a surface changed, decided and delivered, {store}",
               f"{prefix}surface-change", f"{prefix}surface-user"),
        Figure(f"{prefix}surface-late", f"95th percentile of the staleness of single changes, {store}",
               f"{prefix}surface-late", "1 s", "work_us", 1),
        Figure(f"{prefix}surface-memory", f"memory with all surfaces beyond that without, {store}",
               f"{prefix}surfaces", "80 MB", "peak_mb", 1),
    ]


FIGURES = figures("", "with a file") + figures("fleet-", "with PostgreSQL")


class SurfacePhones(Phones):
    """The installations, every tenth of which has a Live Activity."""

    file = "surface-phones.jsonl"

    @functools.cached_property
    def cards(self):
        """The tokens of the Live Activities, by the number of the surface."""
        source = random.Random(47)
        return [new_token(source) for _ in range(min(SURFACE_LIMIT, max(1, len(self.tokens) // PHONES_PER_SURFACE)))]

    def installation(self, number):
        installation = super().installation(number)
        surface, remainder = divmod(number, PHONES_PER_SURFACE)
        if remainder == 0 and surface < len(self.cards):
            token = self.cards[surface]
            installation["activities"] = {token[:32]: {
                "surface": f"order-{surface}", "token": token, "started-at": round(time.time() * 1_000),
                "started-by": "app"}}
        return installation


class Surfaces:
    """The measurements with the installations in a file."""

    row = "page"

    def __init__(self, crowd):
        self.crowd = crowd
        self.cards = crowd.phones.cards
        # The version of each surface.
        self.versions = [0] * len(self.cards)
        # The number of changes for which the relay has to record an answer of Apple.
        self.changes = 0
        self.source = random.Random(48)

    @functools.cached_property
    def samples(self):
        """The samples by the names of the runs, without their prefix."""
        _ = self.crowd.imported
        count = len(self.cards)
        with Apple(self.crowd.world, 2 * PACED_CHANGES) as apple, self.crowd.relay(apple.endpoint) as relay:
            process = relay.process.pid
            plain = self.push_to_users(relay)
            before = memory(process, "VmRSS")
            surfaces = self.change(relay, range(count))
            peak, idle_cpu = peak_megabytes(process) - before, -server_seconds(process)
            time.sleep(PAUSE)
            idle_cpu += server_seconds(process)
            # A plot cannot show a ratio of 0.
            surfaces.peak_mb = max(0.1, memory(process, "VmRSS") - before)
            user = self.push_to_users(relay)
            same, same_rows = self.repeat(apple, relay)
            rows = -self.written_rows(relay)
            some = self.source.sample(range(count), min(count, REQUESTS))
            changed = self.change(relay, some)
            changed_rows = (rows + self.written_rows(relay)) / len(some)
            if changed_rows < 1:
                sys.exit(f"bench: {changed_rows:.1f} rows for a change: the written rows are not counted")
            staleness = self.measure_staleness(apple, relay)
        surfaces.account = "\n".join([
            f"{count:,} surfaces over {len(self.crowd.phones.tokens):,} installations: {surfaces.cpu_us:.0f} µs of CPU time "
            f"each, {peak:.1f} MB of memory at most beyond that without, {surfaces.peak_mb:.1f} MB after {PAUSE} s, in which "
            f"the relay used {idle_cpu * 1e3:.0f} ms of CPU time",
            f"a push to a user {user.cpu_us:.0f} µs and {user.rate:.0f}/s, without surfaces {plain.cpu_us:.0f} µs and "
            f"{plain.rate:.0f}/s",
            f"a request that changes nothing {same.cpu_us:.0f} µs, {same.rate:.0f}/s and {same_rows:.3f} {self.row}s",
            f"a change {changed.cpu_us:.0f} µs, {changed.rate:.0f}/s and {changed_rows:.1f} {self.row}s",
            f"{len(staleness):,} changes, {CHANGE_RATE} per second: staleness {percentile(staleness, 50):.3f} s in the median, "
            f"{percentile(staleness, 95):.3f} s at the 95th percentile, {percentile(staleness, 100):.3f} s at most",
        ])
        show_progress("")
        return {
            "surfaces": surfaces, "surface-user": user, "surface-same": same, "surface-change": changed,
            "surface-late": Sample(work_us=percentile(staleness, 95) * 1e6)}

    def written_rows(self, relay):
        """Returns the number of rows, or of pages of a file, that the store has written."""
        # The relay writes nothing else to files: it logs only errors.
        accounting = pathlib.Path(f"/proc/{relay.process.pid}/io").read_text()
        return int(re.search(r"^write_bytes: (\d+)", accounting, re.M)[1]) / PAGE

    def push_to_users(self, relay):
        """Returns the cost of pushes to random users."""
        users = random.Random(7).choices(range(len(self.crowd.phones.tokens)), k=REQUESTS)
        requests = [push_request({"user": f"user-{user}"}) for user in users]
        return self.crowd.cost(relay, requests, relay.wait_until_sent, f"{self.crowd.name}: pushes to users")

    def change(self, relay, surfaces):
        """Returns the cost of a new version of surfaces, until Apple's answers are recorded."""
        requests = [self.new_version(surface) for surface in surfaces]
        title = f"{self.crowd.name}: changes of surfaces"
        return self.crowd.cost(relay, requests, lambda: self.settle(relay), title)

    def repeat(self, apple, relay):
        """Returns the cost of requests that change nothing, and the rows that the store has written for each."""
        requests = [self.request(surface) for surface in self.source.choices(range(len(self.cards)), k=REQUESTS)]
        before, rows = self.work(apple, relay), -self.written_rows(relay)
        sample = self.crowd.cost(relay, requests, lambda: None, f"{self.crowd.name}: requests that change nothing")
        # The relay works within a second after a change.
        time.sleep(2)
        rows += self.written_rows(relay)
        after = self.work(apple, relay)
        if after != before:
            sys.exit(f"bench: requests that change nothing have changed {before} to {after}")
        if rows > REQUESTS:
            sys.exit(f"bench: {rows:.0f} {self.row}s were written for {REQUESTS} requests that change nothing")
        return sample, rows / REQUESTS

    def work(self, apple, relay):
        """Returns the numbers of surfaces, of what the relay has stored for them, and of pushes that Apple has received."""
        names = ["surfaces", "surface_pages_total", "surface_steps_total", "surface_pushes_total"]
        return {**{name: total(relay, name) for name in names}, "received pushes": apple.count()}

    def measure_staleness(self, apple, relay):
        """Returns the sorted times in seconds from changes until Apple has received their pushes."""
        surfaces = self.source.sample(range(len(self.cards)), min(len(self.cards), PACED_CHANGES))
        apple.last = apple.count()
        requests = [(surface, self.new_version(surface)) for surface in surfaces]
        start, changes = time.monotonic(), {}
        for number, (surface, request) in enumerate(requests):
            show_progress(f"{self.crowd.name}: {number:,} of {len(requests):,} single changes")
            time.sleep(max(0, start + number / CHANGE_RATE - time.monotonic()))
            changes[self.cards[surface]] = time.time()
            relay.ask(*request)
        self.settle(relay)
        received = {}
        for push in apple.new_pushes():
            received.setdefault(push["device-token"], push["time-ms"] / 1_000)
        return sorted(received[token] - at for token, at in changes.items())

    def new_version(self, surface):
        """Returns the request that changes a surface, for which the relay then has to record an answer of Apple."""
        self.versions[surface] += 1
        self.changes += 1
        return self.request(surface)

    def request(self, surface):
        """Returns the request that stores the version of a surface."""
        version, user = self.versions[surface], f"user-{surface * PHONES_PER_SURFACE}"
        return surface_request(APP, f"order-{surface}", version, {"user": user}, f"Version {version}", 0.5)

    def settle(self, relay):
        """Waits until the relay has recorded Apple's answer to each change."""
        end = time.monotonic() + SETTLING_TIME
        while (recorded := total(relay, "surface_staleness_seconds_count")) < self.changes:
            if time.monotonic() > end:
                sys.exit(f"bench: the relay has recorded Apple's answer to {recorded:,} of {self.changes:,} changes after "
                         f"{SETTLING_TIME} s")
            show_progress(f"{self.crowd.name}: Apple's answer to {recorded:,} of {self.changes:,} changes recorded")
            time.sleep(0.5)

    def runs(self, prefix):
        names = ["surfaces", "surface-user", "surface-same", "surface-change", "surface-late"]
        return {f"{prefix}{name}": lambda name=name: self.samples[name] for name in names}


class FleetSurfaces(Surfaces):
    """The measurements with the installations in PostgreSQL."""

    row = "row"

    def written_rows(self, relay):
        time.sleep(PAUSE)
        return int(self.crowd.ask("""
            SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE schemaname = 'martlet';"""))


def total(relay, name):
    """Returns the sum of a metric of the relay over its labels."""
    values = re.findall(rf"^martlet_relay_{name}(?:\{{.*\}})? (\S+)$", relay.ask("GET", "/metrics"), re.M)
    return sum(int(float(value)) for value in values)


def runs(world):
    phones = SurfacePhones(world)
    return {
        **Surfaces(Crowd(world, phones, "surfaces")).runs(""),
        **FleetSurfaces(FleetCrowd(world, phones, "surfaces")).runs("fleet-"),
        "100 000 / 10 min": lambda: Sample(rate=100_000 / 600),
        "1 s": lambda: Sample(work_us=1_000_000),
    }
