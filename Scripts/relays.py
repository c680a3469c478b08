# SPDX-License-Identifier: Apache-2.0

"""The servers of the demonstrations of the relay: PostgreSQL, a simulator in place of Apple, and relays."""

import contextlib
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "Tests/Peers"))

from ports import unused_port

NAME = pathlib.Path(sys.argv[0]).name
KEY = "mrt_abcdefghijklmnopqrstuvwxyz234567"
BUNDLE = "com.example.orders"
# Seconds to wait for something that takes a few on an idle machine: a guard against hanging.
PATIENCE = 300
STARTED = time.monotonic()


def step(text):
    """Prints what has happened, with the time since the start."""
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", flush=True)


@contextlib.contextmanager
def scratch():
    """Yields a directory for files of servers, and a list of functions, which are called at the end, the last one first."""
    with tempfile.TemporaryDirectory(prefix=f"martlet-{NAME}-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        stops = []
        try:
            yield directory, stops
        finally:
            for stop in reversed(stops):
                stop()


def wait_for(name, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            found = condition()
            if found:
                return found
        except (OSError, http.client.HTTPException, subprocess.CalledProcessError):
            pass
        time.sleep(0.05)
    sys.exit(f"{NAME}: timed out after {PATIENCE} s while waiting for {name}")


def kill_server(data):
    """Kills all processes of the PostgreSQL server of a data directory."""
    main = int((data / "postmaster.pid").read_text().split()[0])
    children = pathlib.Path(f"/proc/{main}/task/{main}/children").read_text().split()
    for process in [main, *map(int, children)]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def crash(database, relays, random, has_ended):
    """Kills and restarts relays and their database, or None, at random until an event is set; returns their names."""
    killed = []
    while not has_ended.wait(random.uniform(0, 1.5)):
        is_database = database and random.random() < 0.3
        servers = [database] if is_database else random.sample(relays, random.randint(1, min(2, len(relays))))
        for server in servers:
            server.kill()
        killed.append("database" if is_database else " and ".join(relay.name for relay in servers))
        time.sleep(random.uniform(0, 1))
        for server in servers:
            server.start()
    return killed


class Database:
    """A PostgreSQL server on a free port, which stops with this program."""

    def __init__(self, directory):
        self.directory, self.port = directory, unused_port()
        self.address = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        directory.mkdir()
        self.process = None
        self.start()

    def start(self):
        wait_for("PostgreSQL", self.is_answering)

    def is_answering(self):
        # It exits while processes of a killed server still run.
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [ROOT / "Scripts/postgresql", self.directory, str(self.port), str(os.getpid())],
                stderr=subprocess.DEVNULL)
        return self.ask("SELECT 1") == "1"

    def kill(self):
        kill_server(self.directory / "data")
        self.process.wait()

    def ask(self, sql):
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.address], input=sql, check=True,
                              capture_output=True, text=True).stdout.strip()


class Simulator:
    """A simulator in place of Apple, with the port of its APNs and that of its inbox."""

    def __init__(self, martlet, stops, *options, port=0):
        process = subprocess.Popen(
            [martlet, "simulate", "--quiet", "--h2c", "--environment", "production", "--port", str(port),
             "--channel-port", "0", "--inbox-port", "0", "--keep", "10000000", *options],
            stdout=subprocess.PIPE, text=True)
        stops.append(process.kill)
        output = ""
        for line in process.stdout:
            output += line
            if "Press Control-C" in line:
                break
        self.port, self.inbox = (
            int(re.search(rf"{label} http://localhost:(\d+)", output)[1]) for label in ("Simulated APNs at", "Inbox:"))

    def set_faults(self, *rules, seed=0):
        self.ask("PUT", "/api/v1/chaos", {"rules": rules, "seed": seed})

    def ask(self, method, path, body=None):
        """Returns the JSON of the answer to a request with a body of JSON; None for no body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.inbox, timeout=60)
        connection.request(method, path, body and json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status not in (200, 204):
            sys.exit(f"{NAME}: the simulator answers {answer.status} to {method} {path}: {text}")
        return json.loads(text) if text else None

    def pushes(self):
        """Yields the pushes of the inbox, the newest first."""
        before = ""
        while page := self.ask("GET", f"/api/v1/pushes?limit=1000{before}")["pushes"]:
            yield from page
            before = f"&before={page[-1]['number']}"


def make_keys(directory):
    """Writes the signing key of the app and the API key of the caller."""
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                    directory / "key.p8"], check=True, capture_output=True)
    (directory / "caller.key").write_text(KEY + "\n")


class Relay:
    """A relay, which keeps its files and ports when it is killed."""

    def __init__(self, martlet, stops, name, directory, data, simulator):
        self.martlet, self.name, self.port, self.apns_port = martlet, name, unused_port(), unused_port()
        self.file = directory / f"{name}.json"
        self.log = directory / f"{name}.log"
        self.file.write_text(json.dumps({
            "data": data, "node": name, "http": f"127.0.0.1:{self.port}",
            "listen": {"production": f"127.0.0.1:{self.apns_port}"}, "log-level": "warning",
            "apps": [{"name": "orders", "bundle-ids": [BUNDLE], "team-id": "DEF123GHIJ", "key-id": "ABC123DEFG",
                      "key-file": str(directory / "key.p8")}],
            "callers": [{"name": "demo", "key-sha256": hashlib.sha256(KEY.encode()).hexdigest(), "apps": ["orders"],
                         "scopes": ["send", "read", "manage", "installations"]}],
            "apple": {"production": {"host": "127.0.0.1", "port": simulator.port, "clear": True}},
        }))
        stops.append(self.kill)
        self.start()

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [self.martlet, "relay", "--configuration", self.file], stdout=log, stderr=log)
        wait_for(f"relay {self.name} (see {self.log})", lambda: self.ask("GET", "/readyz")[0] == 200)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        try:
            connection.request(method, path, body, {"authorization": f"Bearer {KEY}", **fields})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def answers(self, paths):
        """Yields the status and the JSON of the answers to the paths, over one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            for path in paths:
                connection.request("GET", path, headers={"authorization": f"Bearer {KEY}"})
                answer = connection.getresponse()
                yield answer.status, json.loads(answer.read())
        finally:
            connection.close()


def start_relays(martlet, stops, directory, simulator, is_file=False):
    """Starts a database with three relays, or one relay with a file; returns the database, or None, and the relays."""
    database, data, names = None, "relay.sqlite", ["one"]
    if not is_file:
        database = Database(directory / "database")
        data, names = database.address, ["one", "two", "three"]
        subprocess.run([martlet, "relay", "migrate", "--data", data], check=True, capture_output=True)
    make_keys(directory)
    return database, [Relay(martlet, stops, name, directory, data, simulator) for name in names]


def ask_until_acknowledged(relays, method, path, body=None, **fields):
    """Repeats a request at the next relay until one has acknowledged it; returns the text of the answer."""
    for relay in itertools.cycle(relays):
        try:
            status, text = relay.ask(method, path, body, **fields)
        except (OSError, http.client.HTTPException):
            status, text = 503, ""
        if status in (200, 201, 202):
            return text
        if status != 503:
            raise SystemExit(f"{NAME}: the relay answers {status} to {method} {path}: {text}")
        time.sleep(0.05)
