# SPDX-License-Identifier: Apache-2.0

"""The base class of the tests of the status page: starts a simulator, a relay and a page in Chromium for each test.

Each `walk_*.py` is a separate unittest program, which Scripts/walks runs.
"""

import hashlib
import json
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

from browser import MARTLET, PATIENCE, BrowserWalk
from ports import unused_port

KEY = "mrt_abcdefghijklmnopqrstuvwxyz234567"
SENDER = "mrt_765432zyxwvutsrqponmlkjihgfedcba"
READER = "mrt_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


class Program:
    """A martlet server that prints its ports when it is ready."""

    def __init__(self, ready, *arguments):
        self.process = subprocess.Popen([MARTLET, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.text = ""
        for line in self.process.stdout:
            self.text += line
            if ready in line:
                break

    def port(self, pattern):
        return int(re.search(pattern, self.text)[1])

    def stop(self, is_in_order=False):
        """Ends the program; in order, so that the next one reports no unclean end."""
        if is_in_order:
            self.process.terminate()
        else:
            self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class RelayWalk(BrowserWalk):
    apps = ["orders", "rides"]

    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.start_simulator()
        self.addCleanup(lambda: self.simulator.stop())
        self.configure()
        self.start_relay()
        self.addCleanup(lambda: self.relay.stop())
        self.open_page()

    def start_simulator(self, port=None):
        """Starts the simulator, at the port of an earlier one if it is given."""
        self.simulator = Program(
            "Press Control-C", "simulate", "--h2c", "--port", str(port or unused_port()), "--channel-port", "0", "--inbox-port", "0", "--quiet")
        inbox = re.search(r"http://localhost:(\d+)/", self.simulator.text)[1]
        self.inbox = f"http://127.0.0.1:{inbox}/api/v1/"
        info = json.load(urllib.request.urlopen(self.inbox + "info"))
        self.apns_port = int(info["apns"].rsplit(":", 1)[1])

    def data(self):
        """The place of the relay's data."""
        return "relay.sqlite"

    def configure(self):
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
             self.directory.name + "/key.p8"], check=True, capture_output=True)

        def caller(name, key, scopes):
            return {"name": name, "key-sha256": hashlib.sha256(key.encode()).hexdigest(), "apps": self.apps, "scopes": scopes}

        def app(name):
            return {"name": name, "bundle-ids": [f"com.example.{name}"], "team-id": "DEF123GHIJ",
                    "key-id": "ABC123DEFG", "key-file": "key.p8", "environments": ["development"]}

        self.configuration = {
            "data": self.data(), "listen": {"development": "127.0.0.1:0"}, "http": "127.0.0.1:0", "answer-seconds": 0,
            "apps": [app(name) for name in self.apps],
            "callers": [
                caller("operator", KEY, ["send", "read", "manage"]), caller("sender", SENDER, ["send"]),
                caller("reader", READER, ["read"])],
            "apple": {"development": {"host": "127.0.0.1", "port": self.apns_port, "clear": True}},
        }
        self.write_configuration()

    def write_configuration(self, text=None):
        with open(self.directory.name + "/relay.json", "w") as file:
            file.write(text or json.dumps(self.configuration))

    def start_relay(self):
        self.relay = Program("Press Control-C", "relay", "--configuration", self.directory.name + "/relay.json")
        self.url = f"http://127.0.0.1:{self.relay.port(r'in JSON on port ([0-9]+)')}"

    def reload(self):
        self.relay.process.send_signal(signal.SIGHUP)

    def ask(self, method, path, body=None, key=KEY):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"authorization": "Bearer " + key}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b"null")

    def set_faults(self, *rules):
        """Replaces the faults of the simulator."""
        body = json.dumps({"rules": rules}).encode()
        urllib.request.urlopen(urllib.request.Request(self.inbox + "chaos", body, method="PUT")).read()

    def push(self, count, app="orders", token="5d3a6a1c", wait=True):
        for _ in range(count):
            self.ask("POST", "/v1/pushes" + ("?wait=20" if wait else ""),
                     {"app": app, "to": token, "payload": {"aps": {"alert": "Hi"}}})

    def make_dead_letters(self, count, app="orders"):
        """Makes the relay abandon pushes: each has had all attempts but one, and Apple refuses the last one."""
        self.set_faults({"do": "respond", "reason": "TooManyRequests"})
        self.push(count, app, wait=False)
        self.wait_until(lambda: self.lane_sum(lambda lane: lane["retrying"]) >= count)
        self.relay.stop(is_in_order=True)
        database = sqlite3.connect(self.directory.name + "/relay.sqlite")
        database.execute("UPDATE push SET attempts = 15, ready_at = 0, ready_check = ~0")
        database.commit()
        database.close()
        self.start_relay()
        self.wait_until(lambda: self.lane_sum(lambda lane: lane["outcomes"]["dead"]) >= count)
        self.set_faults()

    def lane_sum(self, figure):
        """The sum of a figure over all lanes."""
        return sum(figure(lane) for lane in self.ask("GET", "/v1/status")["lanes"])

    def enter(self, key=KEY):
        self.page.goto(self.url)
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()

    def tile(self, name):
        return self.page.locator(f'.tile[data-name="{name}"] dd')

    def lane(self, app):
        return self.page.locator(f'#lanes tr[data-lane="{app} development"]')

    def pause(self, app):
        self.page.get_by_role("button", name=f"Pause {app} development").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Pause").click()

    def banner(self, kind):
        return self.page.locator(f'#incidents [data-kind="{kind}"]')


class Traffic:
    """Pushes that a thread submits until the block ends, with the numbers of those that the relay accepts and refuses."""

    def __init__(self, walk, *apps):
        self.walk, self.apps = walk, apps
        self.accepted = self.refused = 0
        self.isOver = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        number = 0
        while not self.isOver.wait(0.02):
            number += 1
            try:
                # The simulator answers no token with this end with an error, as it does 00000400.
                self.walk.push(1, self.apps[number % len(self.apps)], f"{number:08x}ab", wait=False)
                self.accepted += 1
            except urllib.error.HTTPError as error:
                self.refused += error.code == 503
            except OSError:
                pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.isOver.set()
        self.thread.join()
