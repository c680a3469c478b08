# SPDX-License-Identifier: Apache-2.0

"""Relays that share a database: the fleet on the status page, its events, and drills of what can fail in it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from accessibility import assert_accessible
from browser import MARTLET
from drill import LIMIT, Drill
from playwright.sync_api import expect
from ports import unused_port
from relay_walk import Program, Traffic

POSTGRESQL = pathlib.Path(__file__).parents[3] / "Scripts/postgresql"
# The time in seconds without a heartbeat after which a relay counts as missing, and the interval of heartbeats.
SILENCE = 5 + 1
# On a busy machine a relay can be late with its heartbeats, which is reported.
BUSY = ["missing"]


@unittest.skipUnless(list(pathlib.Path("/usr/lib/postgresql").glob("*/bin")), "requires PostgreSQL")
class Fleet(Drill):
    def data(self):
        self.server_directory = tempfile.mkdtemp()
        os.chmod(self.server_directory, 0o755)
        self.port = unused_port()
        self.server = subprocess.Popen([POSTGRESQL, self.server_directory, str(self.port), str(os.getpid()), "-F"])
        self.addCleanup(self.stop_server)
        address = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        while subprocess.run([MARTLET, "relay", "migrate", "--data", address], capture_output=True).returncode != 0:
            self.assertIsNone(self.server.poll(), "PostgreSQL has not started")
        return address

    def stop_server(self):
        self.signal_server(signal.SIGCONT)
        self.server.terminate()
        self.server.wait()

    def signal_server(self, number):
        with open(self.server_directory + "/data/postmaster.pid") as file:
            main = int(file.readline())
        os.kill(main, number)
        children = subprocess.run(["pgrep", "-P", str(main)], capture_output=True, text=True).stdout.split()
        for child in children:
            try:
                os.kill(int(child), number)
            except ProcessLookupError:
                pass

    def configure(self):
        super().configure()
        self.configuration["node"] = "a"
        self.write_configuration()

    def start_other(self, name):
        """Starts another relay on the database, and returns its program."""
        path = f"{self.directory.name}/other-{name}.json"
        with open(path, "w") as file:
            json.dump({**self.configuration, "node": name}, file)
        program = Program("Press Control-C", "relay", "--configuration", path)
        self.addCleanup(program.stop)
        return program

    def start_namesake(self):
        self.namesake = self.start_other("a")

    def expect_event(self, kind, text):
        row = self.page.locator("#event-list tbody tr", has_text=re.compile(text))
        expect(row.first).to_be_attached()
        expect(self.page.locator(".plot").first.locator(f'.mark[data-kind="{kind}"]').first).to_be_attached()

    def end(self, program):
        program.process.terminate()
        program.process.wait()

    def test_relays_that_join_leave_and_lead_are_listed(self):
        other = self.start_other("b")
        first = self.relay
        self.url = f"http://127.0.0.1:{other.port(r'in JSON on port ([0-9]+)')}"
        self.enter()
        rows = self.page.locator("#nodes tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Leads")
        expect(rows.last).to_contain_text("this relay")
        self.start_other("c")
        expect(rows).to_have_count(3)
        self.expect_event("relay-joined", r"Relay 3 \(c, version .*\) joined")
        for width in [1280, 800, 390]:
            self.page.set_viewport_size({"width": width, "height": 800})
            assert_accessible(self, f"{width} pixels")
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.end(first)
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Leads")
        self.expect_event("relay-left", r"Relay 1 \(a, version .*\) left")
        self.expect_event("leader-changed", r"Relay 2 \(b, version .*\) leads now")
        expect(self.banner("relay-missing")).to_have_count(0)

    def test_a_relay_is_killed_two_have_one_name_and_the_database_hangs(self):
        other = self.start_other("b")
        self.start_other("c")
        self.open()
        with Traffic(self, *self.apps) as self.traffic:
            self.drill(
                "missing", "relay-missing", other.stop, lambda: self.start_other("b"), "Relay 2 (b) is missing",
                "The other relays deliver its pushes", limit=SILENCE + LIMIT)
            self.drill(
                "duplicate", "duplicate-name", self.start_namesake, lambda: self.end(self.namesake),
                "Relays 1 and 5 have the same name, a", "Set node to another name", also=BUSY)
            self.drill(
                "away", "database-away", lambda: self.signal_server(signal.SIGSTOP), lambda: self.signal_server(signal.SIGCONT),
                "New pushes are refused with 503", also=["outdated", *BUSY], unknown=["Waiting", "Oldest"])


if __name__ == "__main__":
    unittest.main()
