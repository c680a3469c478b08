"""What the relay takes: to keep pushes, to bring one from its caller to Apple's answer, and how long that is.

Relay, simulator and callers share both cores. Pushes are kept while nobody plays Apple, and what is kept is compared
with SQLite by itself, which puts the same rows into the same tables, as many at a time. Latency is of single pushes
whose callers wait for Apple's answer, at a thousand a second, against a bound of 50 ms.
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

from measuring import Figure, Sample, of_client, of_server, peak_megabytes, server_seconds
from peers import ALERT, CONNECTIONS, h2load
from servers import free_port, wait_for

FIGURES = [
    Figure("relay-json", "pushes a second kept, in batches of JSON lines", "relay-json", "sqlite-json", "rate", 0.5),
    Figure("relay-apns", "pushes a second kept, over HTTP/2", "relay-apns", "sqlite-apns", "rate", 0.5),
    Figure("relay", "a push taken, kept, delivered and written down", "relay", "send-simulator", goal=5),
    Figure("relay-latency", "99 of 100 have Apple's answer, 1000 pushes a second", "relay-latency", "50 ms", "work_us", 1),
]
KEY = "mrt_0123456789abcdefghijklmnopqrstuv"
LINES, CALLERS = 500, 8
RATE, SECONDS = 1_000, 10


class Relay:
    """A relay with a fresh outbox, which goes with it."""

    def __init__(self, world, apple=None):
        self.directory = world.directory / "relay"
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        # Its certificate is the relay's, too.
        _ = world.nginx
        self.port, self.http_port = free_port(), free_port()
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-out", f"{self.directory}/key.p8"], check=True, capture_output=True)
        configuration = self.directory / "relay.json"
        configuration.write_text(json.dumps({
            "data": "relay.sqlite", "listen": {"production": f"127.0.0.1:{self.port}"},
            "http": f"127.0.0.1:{self.http_port}", "log-level": "error",
            "certificate": f"{world.directory}/certificate.pem", "certificate-key": f"{world.directory}/key.pem",
            "apps": [{"name": "app", "bundle-ids": ["com.example.app"], "team-id": "DEF123GHIJ",
                      "key-id": "ABC123DEFG", "key-file": "key.p8"}],
            "callers": [{"name": "bench", "key-sha256": hashlib.sha256(KEY.encode()).hexdigest(), "apps": ["app"],
                         "scopes": ["send", "read", "manage"]}],
            "apple": {"production": apple or {"host": "127.0.0.1", "port": free_port()}},
        }))
        self.process = world.start(
            self.http_port, world.martlet, "relay", "--configuration", str(configuration), cores="0,1")
        wait_for(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def commit_size(self):
        """How many pushes shared one wait for the disk."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port)
        connection.request("GET", "/metrics", headers={"authorization": f"bearer {KEY}"})
        metrics = connection.getresponse().read().decode()
        pushes, commits = (
            float(re.search(rf"^martlet_relay_outbox_commit_batch_size_{name} (\S+)", metrics, re.M).group(1))
            for name in ("sum", "count"))
        return round(pushes / commits)


def runs(world):
    json_lines = together(world, "json", lambda relay: hand_in_lines(world, relay))
    streams = together(world, "apns", lambda relay: hand_in_streams(world, relay))
    return {
        "relay-json": lambda: json_lines("relay"),
        "sqlite-json": lambda: json_lines("sqlite"),
        "relay-apns": lambda: streams("relay"),
        "sqlite-apns": lambda: streams("sqlite"),
        "relay": lambda: deliver(world),
        "send-simulator": lambda: of_client(
            [world.binary, "send", "--port", str(world.simulator.port), "--ca", authorities(world),
             "--pushes", str(world.pushes), "--streams", str(world.STREAMS), "--way", "awaited"], world.pushes),
        "relay-latency": lambda: latency(world),
        "50 ms": lambda: Sample(work_us=50_000),
    }


def together(world, name, hand_in):
    """SQLite needs the rows of a relay: whichever of both is asked for first measures for both."""
    measured = {}

    def take(which):
        if not measured:
            with Relay(world) as relay:
                before = server_seconds(relay.process.pid)
                measured["relay"] = Sample(rate=hand_in(relay), peak_mb=peak_megabytes(relay.process.pid))
                measured["relay"].cpu_us = (server_seconds(relay.process.pid) - before) * 1e6 / world.pushes
                size = relay.commit_size()
            measured["sqlite"] = of_client(
                [world.binary, "rows", "--outbox", f"{relay.directory}/relay.sqlite",
                 "--copy", f"{relay.directory}/{name}.sqlite", "--together", str(size)], world.pushes)
            measured["sqlite"].rate = float(measured["sqlite"].output)
        return measured.pop(which)

    return take


def hand_in_lines(world, relay):
    """Pushes a second that several callers have kept in batches."""
    line = json.dumps({"to": "5d" * 32, "payload": ALERT}, separators=(",", ":"))
    body = "\n".join([line] * LINES)
    batches = world.pushes // LINES // CALLERS

    def call(_):
        connection = http.client.HTTPConnection("127.0.0.1", relay.http_port)
        kept = 0
        for _ in range(batches):
            connection.request("POST", "/v1/pushes:batch", body, {"authorization": f"bearer {KEY}"})
            kept += connection.getresponse().read().count(b'"accepted"')
        return kept

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        kept = sum(callers.map(call, range(CALLERS)))
    rate = kept / (time.monotonic() - start)
    if kept != batches * LINES * CALLERS:
        sys.exit(f"bench: {kept} of {batches * LINES * CALLERS} pushes were kept")
    return rate


def hand_in_streams(world, relay):
    """Pushes a second that are kept over HTTP/2, with nobody who waits for Apple."""
    return h2load(world, relay.port, world.pushes, CONNECTIONS, KEY, ["-H", "prefer: respond-async"]).rate


def deliver(world):
    """What the relay is charged for pushes on their way from h2load to the simulator."""
    with Relay(world, simulator(world)) as relay:
        return of_server(
            relay.process.pid, lambda: h2load(world, relay.port, world.pushes, bearer=KEY, more=[]), world.pushes)


def latency(world):
    """In how many microseconds 99 of 100 callers have Apple's answer."""
    log = world.directory / "latency.log"
    log.unlink(missing_ok=True)
    with Relay(world, simulator(world)) as relay:
        pace = [f"--rps={RATE}", f"--log-file={log}"]
        sample = h2load(world, relay.port, RATE * SECONDS, bearer=KEY, more=pace)
    times = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
    sample.work_us = times[len(times) * 99 // 100]
    return sample


def simulator(world):
    return {"host": "127.0.0.1", "port": world.simulator.port, "authorities": authorities(world)}


def authorities(world):
    """The file of those who vouch for the simulator, which makes it."""
    _ = world.simulator
    return f"{world.directory}/authority/ca.pem"
