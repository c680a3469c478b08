# SPDX-License-Identifier: Apache-2.0

"""Imported installations in an outbox, which is a file or a database in PostgreSQL, and what requests cost its relay."""

import functools
import http.client
import json
import random
import time

from fleet import postgresql
from measuring import Sample, server_seconds, show_progress
from peers import ALERT
from relay import ANSWER_TIME, KEY, Relay, simulator

APP = "crowd"


class Phones:
    """The tokens of the installations, and the lines that import them."""

    file = "phones.jsonl"

    def __init__(self, world):
        self.world = world

    @functools.cached_property
    def tokens(self):
        source = random.Random(46)
        return [new_token(source) for _ in range(self.world.installations)]

    def installation(self, number):
        """Returns the installation of a number, as it is imported."""
        return {"user": f"user-{number}", "environment": "production", "tokens": {"device": self.tokens[number]},
                "locale": "de-CH", "tags": ["rare"] if number % 100 == 0 else []}

    @functools.cached_property
    def lines(self):
        path = self.world.directory / self.file
        with path.open("w") as file:
            for number in range(len(self.tokens)):
                file.write(json.dumps(self.installation(number)) + "\n")
        return path


class Crowd:
    """A file with the installations, and a relay for each measurement."""

    def __init__(self, world, phones, name):
        self.world, self.phones, self.name = world, phones, name

    @functools.cached_property
    def data(self):
        return str(self.world.directory / f"{self.name}.sqlite")

    def database_processes(self):
        """Returns the processes whose CPU time counts besides that of the relay."""
        return []

    def relay(self, apple=None):
        return Relay(self.world, apple or simulator(self.world), self.data, apps=("app", APP))

    @functools.cached_property
    def imported(self):
        """The import, which is done once."""
        with self.relay() as relay, self.phones.lines.open("rb") as lines:
            show_progress(f"{self.name}: importing {len(self.phones.tokens):,} installations")
            start = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", relay.http_port, timeout=ANSWER_TIME, blocksize=1 << 18)
            size = str(self.phones.lines.stat().st_size)
            connection.request("POST", f"/v1/apps/{APP}/installations", lines, {
                "authorization": f"bearer {KEY}", "content-type": "application/x-ndjson", "content-length": size})
            answer = json.loads(connection.getresponse().read())
            seconds = time.monotonic() - start
        assert answer["added"] == len(self.phones.tokens), answer["problems"][:1]
        return Sample(rate=answer["added"] / seconds)

    def started(self, apple=None):
        """Starts a relay with all installations."""
        _ = self.imported
        return self.relay(apple)

    def cost(self, relay, requests, wait, title=""):
        """Returns the CPU time of each of some requests, and their rate, both until `wait` returns."""
        processes = [relay.process.pid, *self.database_processes()]
        start, cpu = time.monotonic(), -sum(map(server_seconds, processes))
        relay.ask_all(requests, title)
        wait()
        cpu += sum(map(server_seconds, processes))
        return Sample(cpu_us=cpu * 1e6 / len(requests), rate=len(requests) / (time.monotonic() - start))


class FleetCrowd(Crowd):
    """A database in PostgreSQL with the installations."""

    @functools.cached_property
    def data(self):
        return postgresql(self.world).fresh(self.name, self.world)

    def ask(self, sql):
        return postgresql(self.world).ask(self.name, sql)

    def database_processes(self):
        return list(map(int, self.ask(f"""
            SELECT pid FROM pg_stat_activity
            WHERE datname = '{self.name}' AND backend_type = 'client backend' AND pid <> pg_backend_pid();""").split()))


def push_request(recipient):
    """Returns the request of a push to a recipient."""
    return "POST", "/v1/pushes", json.dumps({"app": APP, "to": recipient, "payload": ALERT})


def new_token(source):
    """Returns a random token that the simulator accepts: it refuses pushes to tokens with some other ends."""
    return f"{source.getrandbits(248):062x}c0"
