# SPDX-License-Identifier: Apache-2.0

"""The performance of sends to people: installations, jobs that send to all of them, and sends to single users.

Each figure is measured with a file and with PostgreSQL (`fleet-`), with the same number of imported installations. A
job is compared with batches of their tokens, from the first request until Apple has answered the last push. The 99th
percentile of single pushes of another app, at 100 per second, is compared beside a job and without one.
"""

import concurrent.futures
import http.client
import json
import random
import subprocess
import threading
import time

from crowd import APP, Crowd, FleetCrowd, Phones, push_request
from measuring import Figure, Sample, memory, of_client, peak_megabytes
from peers import ALERT
from relay import CALLERS, KEY, LINES, paced

# The single pushes of another app in a second, and the number of those to users and tokens.
SINGLE_RATE, SINGLE_PUSHES = 100, 4_000
# The number of times that a page is read.
PAGES = 500
RAW_PAGE = """
SELECT i.id, i.user_id, i.is_production, i.bundle_id, i.alerts, i.live_activities, i.frequent_updates, (
    SELECT t.token FROM martlet.installation_token t
    WHERE t.installation = i.number AND t.kind = 'device' AND t.name = ''
)
FROM martlet.installation_tag g JOIN martlet.installation i ON i.number = g.installation
WHERE g.app = (SELECT number FROM martlet.app WHERE name = 'crowd') AND g.tag = 'rare' ORDER BY g.installation LIMIT 200;
"""


def figures(prefix, store):
    return [
        Figure(f"{prefix}job", f"pushes per second of a job to everyone, {store}", f"{prefix}job", f"{prefix}tokens",
               "rate", 0.7),
        Figure(f"{prefix}job-memory", f"memory during a job beyond the start, {store}", f"{prefix}job", "80 MB",
               "peak_mb", 1),
        Figure(f"{prefix}user", f"a push to a user, {store}", f"{prefix}user", f"{prefix}token", goal=1.3),
        Figure(f"{prefix}audience", f"the first page of a tag that 1 % have, {store}", f"{prefix}audience", f"{prefix}rows",
               "work_us", 2),
        Figure(f"{prefix}import", f"installations imported per second, {store}", f"{prefix}import", "a million/min", "rate", 1),
        Figure(f"{prefix}beside", f"99th percentile of another app's pushes beside a job, {store}", f"{prefix}beside",
               f"{prefix}calm", "work_us", 3),
    ]


FIGURES = figures("", "with a file") + figures("fleet-", "with PostgreSQL")


class People:
    """The measurements with the installations in a file."""

    def __init__(self, crowd):
        self.crowd = crowd
        self.world, self.phones = crowd.world, crowd.phones

    def job(self):
        with self.crowd.started() as relay:
            before = memory(relay.process.pid, "VmRSS")
            start = time.monotonic()
            shown = wait_for_job(relay, create_job(relay))
            seconds = time.monotonic() - start
            assert shown["outcomes"] == {"delivered": len(self.phones.tokens)}, shown
            return Sample(rate=shown["stored"] / seconds, peak_mb=peak_megabytes(relay.process.pid) - before)

    def tokens(self):
        """Measures batches with the token of each installation."""
        line = json.dumps({"app": APP, "to": "TOKEN", "payload": ALERT}, separators=(",", ":"))
        head, tail = line.split("TOKEN")
        tokens = self.phones.tokens
        batches = iter([tokens[first:first + LINES] for first in range(0, len(tokens), LINES)])
        lock = threading.Lock()

        def call(_):
            connection, stored = http.client.HTTPConnection("127.0.0.1", relay.http_port), 0
            while True:
                with lock:
                    batch = next(batches, None)
                if not batch:
                    return stored
                connection.request("POST", "/v1/pushes:batch", head + f"{tail}\n{head}".join(batch) + tail,
                                   {"authorization": f"bearer {KEY}"})
                stored += connection.getresponse().read().count(b'"accepted"')

        with self.crowd.started() as relay, concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
            start = time.monotonic()
            stored = sum(callers.map(call, range(CALLERS)))
            assert stored == len(tokens), stored
            relay.wait_until_sent()
            return Sample(rate=stored / (time.monotonic() - start))

    def singles(self, recipient):
        """Returns the CPU time of pushes that are sent one by one, each to the recipient of a number."""
        numbers = random.Random(7).choices(range(len(self.phones.tokens)), k=SINGLE_PUSHES)
        with self.crowd.started() as relay:
            return self.crowd.cost(relay, [push_request(recipient(number)) for number in numbers], relay.wait_until_sent)

    def audience(self, command):
        """Returns the time of a page as a command of MartletBench measures it."""
        _ = self.crowd.imported
        sample = of_client([self.world.binary, command, "--data", self.crowd.data, "--app", APP, "--tag", "rare", "--times",
                            str(PAGES)], PAGES)
        sample.work_us = float(sample.output)
        return sample

    def beside(self):
        """Measures the pushes of another app while one job after another sends to everyone."""
        with self.crowd.started() as relay, concurrent.futures.ThreadPoolExecutor() as pool:
            is_over = threading.Event()
            jobs = pool.submit(keep_sending, relay, is_over)
            try:
                return paced(self.world, relay, SINGLE_RATE)
            finally:
                is_over.set()
                jobs.result()

    def calm(self):
        with self.crowd.started() as relay:
            return paced(self.world, relay, SINGLE_RATE)

    def runs(self, prefix):
        return {
            f"{prefix}import": lambda: self.crowd.imported,
            f"{prefix}job": self.job,
            f"{prefix}tokens": self.tokens,
            f"{prefix}user": lambda: self.singles(lambda number: {"user": f"user-{number}"}),
            f"{prefix}token": lambda: self.singles(lambda number: self.phones.tokens[number]),
            f"{prefix}audience": lambda: self.audience("audience"),
            f"{prefix}rows": lambda: self.audience("audience-rows"),
            f"{prefix}calm": self.calm,
            f"{prefix}beside": self.beside,
        }


class FleetPeople(People):
    """The measurements with the installations in PostgreSQL."""

    def rows(self):
        """Returns the time of a query for the same rows with pgbench."""
        _ = self.crowd.imported
        self.crowd.ask("VACUUM ANALYZE;")
        script = self.world.directory / "page.sql"
        script.write_text(RAW_PAGE)
        output = subprocess.run(
            ["pgbench", "--no-vacuum", "--client=1", "--protocol=prepared", f"--transactions={PAGES}", f"--file={script}",
             self.crowd.data], check=True, capture_output=True, text=True).stdout
        latency = next(line for line in output.splitlines() if line.startswith("latency average"))
        return Sample(work_us=float(latency.split()[3]) * 1_000)

    def runs(self, prefix):
        return {**super().runs(prefix), f"{prefix}rows": self.rows}


def create_job(relay):
    """Creates a job to all installations, and returns its path."""
    job = json.loads(relay.ask("POST", "/v1/pushes", json.dumps({"app": APP, "to": {"all": True}, "payload": ALERT})))
    return f"/v1/apps/{APP}/jobs/{job['id']}"


def wait_for_job(relay, path):
    while True:
        shown = json.loads(relay.ask("GET", path))
        if "ended-at" in shown:
            return shown
        time.sleep(0.1)


def keep_sending(relay, is_over):
    """Creates jobs one after another until the event, and then cancels the last one."""
    while not is_over.is_set():
        path = create_job(relay)
        while not is_over.wait(0.1) and "ended-at" not in json.loads(relay.ask("GET", path)):
            pass
    if "ended-at" not in json.loads(relay.ask("GET", path)):
        relay.ask("DELETE", path)
        wait_for_job(relay, path)


def runs(world):
    phones = Phones(world)
    return {
        **People(Crowd(world, phones, "people")).runs(""),
        **FleetPeople(FleetCrowd(world, phones, "people")).runs("fleet-"),
        "80 MB": lambda: Sample(peak_mb=80),
        "a million/min": lambda: Sample(rate=1_000_000 / 60),
    }
