# SPDX-License-Identifier: Apache-2.0

"""The cost of the relay: storing pushes, delivering a push, and the latency until Apple's response.

Relay, simulator and callers share both cores. Storing pushes, without a simulator, is compared with SQLite alone,
which inserts the same rows into the same tables in batches of the same size. Latency is measured with single pushes
whose callers wait for Apple's response, at 1000 pushes per second, against a limit of 50 ms.
"""

import concurrent.futures
import hashlib
import http.client
import json
import re
import shutil
import subprocess
import sys
import time

from measuring import Figure, Sample, of_client, of_server, peak_megabytes, server_seconds, show_progress
from peers import ALERT, CONNECTIONS, h2load
from servers import free_port, wait_for

FIGURES = [
    Figure("relay-json", "pushes per second stored, in batches of JSON lines", "relay-json", "sqlite-json", "rate", 0.5),
    Figure("relay-apns", "pushes per second stored, over HTTP/2", "relay-apns", "sqlite-apns", "rate", 0.5),
    Figure("relay", "a push accepted, stored and delivered", "relay", "send-simulator", goal=5),
    Figure("relay-latency", "99th percentile until Apple's response, 1000 pushes per second", "relay-latency", "50 ms", "work_us", 1),
]
KEY = "mrt_0123456789abcdefghijklmnopqrstuv"
LINES, CALLERS = 500, 8
RATE, SECONDS = 1_000, 10
# The longest time until an answer to a request, and until Apple has answered all pushes, in seconds.
ANSWER_TIME, SENDING_TIME = 600, 600


class Relay:
    """A relay with a new outbox, or with the one in `data`."""

    def __init__(self, world, apple=None, data="relay.sqlite", apps=("app",), log=None):
        self.directory = world.directory / "relay"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        # The relay uses nginx's certificate.
        _ = world.nginx
        self.port, self.http_port = free_port(), free_port()
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-out", f"{self.directory}/key.p8"], check=True, capture_output=True)
        configuration = self.directory / "relay.json"
        configuration.write_text(json.dumps({
            "data": data, "listen": {"production": f"127.0.0.1:{self.port}"},
            "http": f"127.0.0.1:{self.http_port}", "log-level": "error",
            "certificate": f"{world.directory}/certificate.pem", "certificate-key": f"{world.directory}/key.pem",
            "apps": [{"name": app, "bundle-ids": [f"com.example.{app}"], "team-id": "DEF123GHIJ",
                      "key-id": "ABC123DEFG", "key-file": "key.p8"} for app in apps],
            "callers": [{"name": "bench", "key-sha256": hashlib.sha256(KEY.encode()).hexdigest(), "apps": apps,
                         "scopes": ["send", "read", "manage", "installations"]}],
            "apple": {"production": apple or {"host": "127.0.0.1", "port": free_port()}},
        }))
        self.process = world.start(
            self.http_port, world.martlet, "relay", "--configuration", str(configuration), cores="0,1", log=log)
        wait_for(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, method, path, body=None):
        """Returns the text of the answer to a request."""
        return ask(self.connection(), method, path, body)

    def ask_all(self, requests, title=""):
        """Sends requests one by one over several connections, and shows the progress with a title."""
        def call(first):
            connection = self.connection()
            for number, request in enumerate(requests[first::CALLERS]):
                if title and first == 0 and number % 50 == 0:
                    show_progress(f"{title}: {number * CALLERS:,} of {len(requests):,} requests")
                ask(connection, *request)

        with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
            list(callers.map(call, range(CALLERS)))

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=ANSWER_TIME)

    def wait_until_sent(self):
        """Waits until Apple has answered all pushes."""
        end = time.monotonic() + SENDING_TIME
        while any(lane["backlog"] for lane in json.loads(self.ask("GET", "/v1/status"))["lanes"]):
            if time.monotonic() > end:
                sys.exit(f"bench: pushes have waited for more than {SENDING_TIME} s")
            time.sleep(0.1)

    def commit_size(self):
        """Returns the average number of pushes per commit."""
        metrics = self.ask("GET", "/metrics")
        pushes, commits = (
            float(re.search(rf"^martlet_relay_outbox_commit_batch_size_{name} (\S+)", metrics, re.M).group(1))
            for name in ("sum", "count"))
        return round(pushes / commits)


def ask(connection, method, path, body=None):
    """Returns the text of the relay's answer to a request."""
    connection.request(method, path, body, {"authorization": f"bearer {KEY}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status not in (200, 201, 202):
        sys.exit(f"bench: the relay answers {answer.status} to {method} {path}: {text}")
    return text


def runs(world):
    json_lines = shared_run(world, "json", lambda relay: send_lines(world, relay))
    streams = shared_run(world, "apns", lambda relay: send_streams(world, relay))
    return {
        "relay-json": lambda: json_lines("relay"),
        "sqlite-json": lambda: json_lines("sqlite"),
        "relay-apns": lambda: streams("relay"),
        "sqlite-apns": lambda: streams("sqlite"),
        "relay": lambda: deliver(world),
        "send-simulator": lambda: of_client(
            [world.binary, "send", "--port", str(world.simulator.port), "--ca", authorities(world),
             "--pushes", str(world.pushes), "--streams", str(world.STREAMS), "--executor", "awaited"], world.pushes),
        "relay-latency": lambda: latency(world),
        "50 ms": lambda: Sample(work_us=50_000),
    }


def shared_run(world, name, send):
    """SQLite needs the outbox of a relay, so the first call of either run measures both."""
    measured = {}

    def result(which):
        if not measured:
            with Relay(world) as relay:
                before = server_seconds(relay.process.pid)
                measured["relay"] = Sample(rate=send(relay), peak_mb=peak_megabytes(relay.process.pid))
                measured["relay"].cpu_us = (server_seconds(relay.process.pid) - before) * 1e6 / world.pushes
                size = relay.commit_size()
            measured["sqlite"] = of_client(
                [world.binary, "rows", "--outbox", f"{relay.directory}/relay.sqlite",
                 "--copy", f"{relay.directory}/{name}.sqlite", "--batch", str(size)], world.pushes)
            measured["sqlite"].rate = float(measured["sqlite"].output)
        return measured.pop(which)

    return result


def send_lines(world, relay):
    """Returns the pushes per second that are stored for several callers with batches."""
    line = json.dumps({"to": "5d" * 32, "payload": ALERT}, separators=(",", ":"))
    body = "\n".join([line] * LINES)
    batches = world.pushes // LINES // CALLERS

    def call(_):
        connection = http.client.HTTPConnection("127.0.0.1", relay.http_port)
        stored = 0
        for _ in range(batches):
            connection.request("POST", "/v1/pushes:batch", body, {"authorization": f"bearer {KEY}"})
            stored += connection.getresponse().read().count(b'"accepted"')
        return stored

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        stored = sum(callers.map(call, range(CALLERS)))
    rate = stored / (time.monotonic() - start)
    if stored != batches * LINES * CALLERS:
        sys.exit(f"bench: {stored} of {batches * LINES * CALLERS} pushes were stored")
    return rate


def send_streams(world, relay):
    """Returns the pushes per second that are stored over HTTP/2, for clients that do not wait for Apple."""
    return h2load(world, relay.port, world.pushes, CONNECTIONS, KEY, ["-H", "prefer: respond-async"]).rate


def deliver(world):
    """Returns the CPU time of the relay for pushes from h2load to the simulator."""
    with Relay(world, simulator(world)) as relay:
        return of_server(
            relay.process.pid, lambda: h2load(world, relay.port, world.pushes, bearer=KEY, more=[]), world.pushes)


def latency(world):
    """Returns the 99th percentile of the time until Apple's response, in microseconds."""
    with Relay(world, simulator(world)) as relay:
        return paced(world, relay, RATE)


def paced(world, relay, rate):
    """Sends single pushes at a rate, and returns the 99th percentile of the time until Apple's response."""
    log = world.directory / "latency.log"
    log.unlink(missing_ok=True)
    pace = [f"--rps={rate}", f"--log-file={log}"]
    sample = h2load(world, relay.port, rate * SECONDS, bearer=KEY, more=pace)
    times = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
    sample.work_us = times[len(times) * 99 // 100]
    return sample


def simulator(world):
    return {"host": "127.0.0.1", "port": world.simulator.port, "authorities": authorities(world)}


def authorities(world):
    """Returns the file of the simulator's authority, which the simulator creates."""
    _ = world.simulator
    return f"{world.directory}/authority/ca.pem"
