# SPDX-License-Identifier: Apache-2.0

"""Phones that change users at two relays whose clocks differ: clocks.py MARTLET-PROGRAM SEED

Two relays share a database, each with a wall clock of its own (Scripts/wall-clock.c). Phones enroll as one user after another,
back ends send to the users, and each request goes to one of the relays at random. Meanwhile the clock of the first
relay, which is an hour ahead when it starts, is corrected, set back by an hour, and corrected again. The owner of a
token follows from the order of the answers, without a clock. Fails when a push has reached a former user, when an
answer differs from what is stored, when a push is lost, or when a 410 removes the wrong token.
"""

import collections
import concurrent.futures
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from ports import unused_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEY = "mrt_abcdefghijklmnopqrstuvwxyz234567"
APP = "/v1/apps/orders"
HOUR = 3600
# The errors of the relays' clocks, in seconds.
ERRORS = [25, -30]
PHONES = 12
ROUNDS = 16
# A guard against hanging, in seconds.
LIMIT = 120


def wait_until(condition, name):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"clocks: not within {LIMIT} s: {name}")
        time.sleep(0.05)


def request(port, method, path, body=None, bearer=KEY, **fields):
    """Returns the status of the answer, and its JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    try:
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"authorization": f"Bearer {bearer}", **fields})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or "null")
    finally:
        connection.close()


class Program:
    """A martlet server that prints its ports when it is ready, with its output in a file."""

    def __init__(self, martlet, log, *arguments, environment=None):
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [martlet, *arguments], stdout=file, stderr=file, env={**os.environ, **(environment or {})})
        wait_until(lambda: "Press Control-C" in self.text or self.process.poll() is not None, f"{arguments} is ready")
        if self.process.poll() is not None:
            sys.exit(f"clocks: {arguments} has not started: {self.text}")

    @property
    def text(self):
        return self.log.read_text()

    def port(self, label):
        return int(re.search(label + r"(\d+)", self.text)[1])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LIMIT)


class Relay:
    """A relay with a wall clock of its own."""

    def __init__(self, name, directory, configuration, error):
        self.name, self.directory = name, directory
        self.configuration = directory / f"{name}.json"
        self.configuration.write_text(json.dumps({**configuration, "node": name}))
        self.clock = directory / f"{name}.clock"
        self.set_clock(error)

    def set_clock(self, error):
        """Sets the error of the relay's clock, in seconds."""
        # In place, because the relay has mapped the file into its memory.
        with self.clock.open("r+b" if self.clock.exists() else "wb") as file:
            file.write(error.to_bytes(8, sys.byteorder, signed=True))

    def start(self, martlet, library):
        self.program = Program(
            martlet, self.directory / f"{self.name}.log", "relay", "--configuration", str(self.configuration),
            environment={"LD_PRELOAD": str(library), "WALL_CLOCK_ERROR": str(self.clock)})
        self.port = self.program.port("in JSON on port ")

    def ask(self, method, path, body=None, bearer=KEY, **fields):
        return request(self.port, method, path, body, bearer, **fields)


class Phone:
    """A phone with one token, whose users change; each user has no other phone, so that its pushes are known."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        self.random = random.Random(f"{world.seed} {number}")
        self.token = f"{number:04x}" + f"{self.random.getrandbits(128):032x}"
        self.numbers = itertools.count()
        self.users = [f"{name}-{number}" for name in ("anna", "bert", "cleo")]
        self.user = None
        self.secret = None
        # The pushes that were accepted, by identifier: their users.
        self.sent = {}
        # The pushes that waited when the phone got another user, and whose user has not got it back since.
        self.former = set()

    def relay(self):
        return self.random.choice(self.world.relays)

    def other_user(self):
        return self.random.choice([user for user in self.users if user != self.user])

    def expect(self, condition, *facts):
        if not condition:
            self.world.violations.append(f"phone {self.number}: {facts}")

    def enroll(self, user):
        """Enrolls the app as a user, and notes which pushes to the former one wait."""
        status, ticket = self.relay().ask("POST", APP + "/tickets", {"user": user, "seconds": 3 * HOUR})
        self.expect(status == 201, "ticket", status, ticket)
        body = {"environment": "production", "tokens": {"device": self.token}}
        if self.secret and self.random.random() < 0.3:
            body["replaces"] = self.secret
        status, answer = self.relay().ask("POST", "/v1/installation", body, ticket["ticket"])
        self.expect(status == 201, "enrollment", status, answer)
        former, old = self.user, self.secret
        # Those that still wait may be sent again.
        self.former -= {id for id, owner in self.sent.items() if owner == user}
        self.user, self.secret = user, answer["secret"]
        shown = self.relay().ask("GET", "/v1/installation", bearer=self.secret)[1]
        self.expect(shown == answer["installation"], "enrolled", answer["installation"], "shown", shown)
        if former not in (None, user):
            self.former |= {id for id, owner in self.sent.items() if owner == former and self.state(id) == "accepted"}
            status, answer = self.send_to(former)
            self.expect(status == 200 and answer["pushes"] == [], "to the former user", status, answer)
        if old and "replaces" not in body and self.random.random() < 0.5:
            self.expect(self.relay().ask("DELETE", "/v1/installation", bearer=old)[0] == 204, "late sign-out")

    def report(self, relay):
        status, answer = relay.ask("PATCH", "/v1/installation", {"tokens": {"device": self.token}}, self.secret)
        self.expect(status == 200 and answer["tokens"] == {"device": self.token}, "report", status, answer)

    def send_to(self, user, relay=None):
        body = {"to": {"user": user}, "payload": {"aps": {"alert": user}}}
        key = {"idempotency-key": f"{self.number}-{next(self.numbers)}"}
        # A relay whose clock is changed during a commit may take the database to be slow, and asks to send again.
        end = time.monotonic() + LIMIT
        while True:
            answer = (relay or self.relay()).ask("POST", "/v1/pushes", body, **key)
            if answer[0] != 503 or time.monotonic() > end:
                return answer
            time.sleep(0.05)

    def send(self, relay=None):
        """Sends to the user of the phone, and returns the identifier of the push."""
        status, answer = self.send_to(self.user, relay)
        self.expect(status in (200, 202) and len(answer.get("pushes", [])) == 1, "to the user", status, answer)
        for push in answer.get("pushes", []):
            self.sent[push["id"]] = self.user
            self.world.accepted_at[push["id"]] = push["accepted-at"]
            return push["id"]

    def state(self, id):
        return self.relay().ask("GET", f"/v1/pushes/{id}")[1]["state"]

    def set_unregistered(self, is_unregistered):
        """Makes Apple answer pushes to the token with 410, or accept them again."""
        path = f"/api/v1/devices/{self.token}"
        if is_unregistered:
            request(self.world.inbox, "PUT", path, {"unregistered-at": int(time.time() * 1_000)})
        else:
            request(self.world.inbox, "DELETE", path)

    def change_users(self):
        for _ in range(ROUNDS):
            self.enroll(self.other_user())
            if self.random.random() < 0.3:
                self.report(self.relay())
            for _ in range(self.random.randint(1, 4)):
                self.send()
            self.world.rounds.release()


class World:
    def __init__(self, martlet, directory, seed, stops):
        self.seed, self.violations, self.accepted_at = seed, [], {}
        self.rounds = threading.Semaphore(0)
        database = directory / "database"
        database.mkdir()
        port = unused_port()
        server = subprocess.Popen([ROOT / "Scripts/postgresql", database, str(port), str(os.getpid()), "-F"])
        stops.append(lambda: (server.terminate(), server.wait()))
        address = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        wait_until(lambda: subprocess.run(
            [martlet, "relay", "migrate", "--data", address], capture_output=True).returncode == 0, "PostgreSQL")
        simulator = Program(
            martlet, directory / "simulator.log", "simulate", "--quiet", "--h2c", "--environment", "production", "--port", "0",
            "--channel-port", "0", "--inbox-port", "0", "--keep", "1000000")
        stops.append(simulator.stop)
        self.inbox = simulator.port("Inbox: http://localhost:")
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", directory / "key.p8"],
            check=True, capture_output=True)
        configuration = {
            "data": address, "http": "127.0.0.1:0", "listen": {"production": "127.0.0.1:0"},
            "apps": [{"name": "orders", "bundle-ids": ["com.example.orders"], "team-id": "DEF123GHIJ",
                      "key-id": "ABC123DEFG", "key-file": "key.p8"}],
            "callers": [{"name": "back end", "key-sha256": hashlib.sha256(KEY.encode()).hexdigest(), "apps": ["orders"],
                         "scopes": ["send", "read", "manage", "installations"]}],
            "apple": {"production": {"host": "127.0.0.1", "port": simulator.port("Simulated APNs at http://localhost:"),
                                     "clear": True}},
        }
        library = directory / "wall-clock.so"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", ROOT / "Scripts/wall-clock.c", "-o", library], check=True)
        errors = [ERRORS[0] + HOUR, ERRORS[1]]
        self.relays = [
            Relay(name, directory, configuration, error) for name, error in zip(("one", "two"), errors)]
        # The relay whose clock is about right signs the first provider token.
        for relay in reversed(self.relays):
            relay.start(martlet, library)
            stops.append(relay.program.stop)
        self.phones = [Phone(self, number) for number in range(PHONES)]

    def set_faults(self, *rules):
        request(self.inbox, "PUT", "/api/v1/chaos", {"rules": rules, "seed": self.seed})

    def wait_for_rounds(self, count):
        for _ in range(count):
            if not self.rounds.acquire(timeout=LIMIT):
                sys.exit(f"clocks: the phones do not change users; {self.violations}")

    def change_users(self):
        """Lets all phones change users, while the clock of the first relay is changed after each quarter."""
        # So that pushes wait while their phones change users.
        self.set_faults({"do": "respond", "reason": "TooManyRequests", "retry-after": 1, "probability": 0.3})
        with concurrent.futures.ThreadPoolExecutor(PHONES) as pool:
            running = [pool.submit(phone.change_users) for phone in self.phones]
            for error in (0, -HOUR, 0):
                self.wait_for_rounds(PHONES * ROUNDS // 4)
                self.relays[0].set_clock(ERRORS[0] + error)
            for task in running:
                task.result()
        self.set_faults()

    def change_while_paused(self):
        """Changes phones while their pushes wait; what the answers to them change depends on the order, not on clocks."""
        ahead, behind = self.relays
        ahead.set_clock(ERRORS[0] + HOUR)
        ahead.ask("POST", APP + "/lanes/production/pause")
        wait_until(lambda: all(lane["state"] == "paused" for lane in self.lanes()), "the pause")
        kept, removed, left, returned = self.phones[:4]
        pushes = {}
        pushes[kept] = kept.send(ahead)
        kept.report(behind)
        removed.report(ahead)
        pushes[removed] = removed.send(behind)
        for phone in (left, returned):
            pushes[phone] = phone.send()
            user = phone.user
            phone.enroll(phone.other_user())
            if phone is returned:
                phone.enroll(user)
        for phone in (kept, removed):
            phone.set_unregistered(True)
        ahead.ask("POST", APP + "/lanes/production/resume")
        expected = {kept: "refused", removed: "refused", left: "cancelled", returned: "delivered"}
        for phone, id in pushes.items():
            wait_until(lambda: phone.state(id) not in ("accepted", "in-flight"), f"the end of {id}")
            phone.expect(phone.state(id) == expected[phone], "the end", expected[phone], phone.state(id))
        for phone in (kept, removed):
            phone.set_unregistered(False)
        kept.send()
        status, answer = removed.send_to(removed.user)
        removed.expect(status == 200 and answer["pushes"] == [], "after 410", status, answer)

    def lanes(self):
        return [lane for relay in self.relays for lane in relay.ask("GET", "/v1/status")[1]["lanes"]]

    def end(self):
        """Waits until every push has ended."""
        # What the first relay has accepted while its clock was ahead is due at that time.
        self.relays[0].set_clock(ERRORS[0] + HOUR + 60)
        self.phones[0].send(self.relays[0])
        wait_until(lambda: all(lane["backlog"] == 0 for lane in self.lanes()), "every push has ended")

    def arrivals(self):
        pushes, before = [], ""
        while True:
            page = request(self.inbox, "GET", f"/api/v1/pushes?limit=1000{before}")[1]["pushes"]
            pushes += page
            if not page:
                return pushes
            before = f"&before={page[-1]['number']}"

    def check(self):
        arrivals = collections.defaultdict(list)
        for push in self.arrivals():
            arrivals[push["apns-id"].lower()].append(push)
        states = collections.Counter()
        for phone in self.phones:
            for id, user in phone.sent.items():
                told = [relay.ask("GET", f"/v1/pushes/{id}")[1] for relay in self.relays]
                phone.expect(told[0] == told[1], "two relays tell", *told)
                state, reason = told[0].get("state"), told[0].get("apns", {}).get("reason")
                states[state] += 1
                phone.expect(told[0].get("accepted-at") == self.accepted_at[id], "accepted-at", self.accepted_at[id], told[0])
                phone.expect(state == "delivered" or (state, reason) in [
                    ("cancelled", "FormerUser"), ("refused", "Unregistered")], "the end", told[0])
                accepted = [push for push in arrivals[id] if push["status"] == 200]
                phone.expect(len(accepted) == (state == "delivered"), "arrived", len(accepted), told[0])
                phone.expect(all(push["device-token"] == phone.token for push in arrivals[id]), "another token", arrivals[id])
                if id in phone.former:
                    phone.expect(not accepted, "reached the phone of a former user", user, told[0])
        return states


def main(martlet, seed):
    start = time.monotonic()

    def step(text):
        print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)
    with tempfile.TemporaryDirectory(prefix="martlet-clocks-") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        stops = []
        try:
            world = World(martlet, directory, seed, stops)
            step("started")
            world.change_users()
            step("users changed")
            world.change_while_paused()
            step("users changed while pushes waited")
            world.end()
            step("ended")
            states = world.check()
            step(f"{dict(states)}, {sum(len(phone.former) for phone in world.phones)} waited while their phones changed users")
        finally:
            for stop in reversed(stops):
                stop()
    for violation in world.violations[:20]:
        print(violation)
    if world.violations:
        sys.exit(f"clocks: {len(world.violations)} violations")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
