# SPDX-License-Identifier: Apache-2.0

"""The outage drill: the first screen of the status page names cause, scope and time within five seconds, and changes back.

Each test breaks something under a relay that takes pushes, while the page is open, and repairs it.
"""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from browser import MARTLET, unused_port
from playwright.sync_api import expect
from relay_walk import RelayWalk, Traffic

# The relay's own times, and one request of the page for the status.
LIMIT = 5
POSTGRESQL = pathlib.Path(__file__).parents[3] / "Scripts/postgresql"
CLOCK = r"since \d\d?:\d\d( [AP]M)? \(\d+ (s|min)\)"


class OutageWalk(RelayWalk):
    apps = ["orders", "rides", "wallet"]

    def expect_incident(self, kind, title, *texts):
        """Waits until the first screen shows the incident, and returns the seconds that it took."""
        start = time.monotonic()
        banner = self.banner(kind)
        expect(banner).to_contain_text(re.compile(title + r" " + CLOCK))
        took = time.monotonic() - start
        for text in texts:
            expect(banner).to_contain_text(text)
        expect(banner).to_be_in_viewport(ratio=1)
        expect(self.page.locator("#incidents > :first-child")).to_have_attribute("data-kind", kind)
        self.assert_fast(kind, took, LIMIT)

    def expect_calm(self):
        start = time.monotonic()
        expect(self.page.locator("#incidents")).to_contain_text(re.compile(r"^(All 3 apps (deliver|are ready)\.|\w+( and \w+)? delivers?, )"))
        print(f"{self.id()}: calm after {time.monotonic() - start:.1f} s", flush=True)
        self.assertEqual([error for error in self.errors if "Failed to load" not in error], [])

    def open(self):
        self.enter()
        expect(self.page.locator("#incidents")).to_contain_text(re.compile(r"All 3 apps (deliver|are ready)\."))


class Apple(OutageWalk):
    def test_apple_is_down(self):
        self.open()
        with Traffic(self, *self.apps):
            expect(self.page.locator("#facts")).to_contain_text(re.compile("[1-9] delivered"))
            self.simulator.stop()
            start = time.monotonic()
            banner = self.page.locator("#incidents .banner").first
            expect(banner).to_contain_text(re.compile(r"(Apple cannot be reached|Connections to Apple are reset) for " + r".*" + CLOCK))
            self.assert_fast("the first problem", time.monotonic() - start, LIMIT)
            expect(self.banner("apple-unreachable")).to_contain_text("for orders, rides and wallet")
            expect(self.banner("apple-unreachable")).to_contain_text(re.compile(r"\d+ pushes wait, none is lost\."))
            expect(self.banner("apple-unreachable")).to_contain_text("Nothing to do unless it lasts.")
            expect(self.tile("Delivered a second")).to_have_text(re.compile("^0"))
            expect(self.tile("Failing")).to_contain_text("%")
            for app in self.apps:
                expect(self.lane(app)).to_contain_text("Down")
            self.start_simulator(self.apns_port)
            self.expect_calm()
        expect(self.page.locator('.plot').first.locator('.mark[data-kind="outage-began"]').first).to_be_attached()
        expect(self.page.locator('.plot').first.locator('.mark[data-kind="outage-ended"]').first).to_be_attached()

    def test_apple_refuses_the_key(self):
        self.open()
        with Traffic(self, *self.apps):
            expect(self.page.locator("#facts")).to_contain_text(re.compile("[1-9] delivered"))
            self.set_faults({"do": "respond", "reason": "InvalidProviderToken"})
            self.expect_incident("key-refused", "Apple refuses the key of orders, rides and wallet", "InvalidProviderToken", "Compare key-id")
            self.set_faults()
            self.configuration["apps"][0]["key-id"] = "ABC123DEFH"
            self.configuration["apps"][1]["key-id"] = "ABC123DEFI"
            self.configuration["apps"][2]["key-id"] = "ABC123DEFJ"
            self.write_configuration()
            self.reload()
            self.expect_calm()

    def test_one_app_fails(self):
        self.open()
        with Traffic(self, *self.apps):
            expect(self.page.locator("#facts")).to_contain_text(re.compile("[1-9] delivered"))
            self.set_faults({"do": "respond", "reason": "ServiceUnavailable", "match": {"topic": "com.example.rides"}})
            # Three errors in a row, as after fewer the lane still sends.
            self.push(3, "rides", wait=False)
            self.expect_incident("apple-errors", "Apple answers with errors for rides", "ServiceUnavailable", "none is lost")
            expect(self.lane("orders")).to_contain_text("Delivers")
            expect(self.lane("rides")).to_contain_text("Down")
            self.set_faults()
            self.expect_calm()


@unittest.skipUnless(os.geteuid() == 0, "requires root to mount a small file system")
class Disk(OutageWalk):
    def data(self):
        self.disk = tempfile.mkdtemp()
        self.mount("size=32m")
        self.addCleanup(os.rmdir, self.disk)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)
        return self.disk + "/relay.sqlite"

    def mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.disk], check=True)

    def test_the_disk_is_full(self):
        self.open()
        with Traffic(self, *self.apps):
            expect(self.page.locator("#facts")).to_contain_text(re.compile("[1-9] delivered"))
            filler = os.open(self.disk + "/filler", os.O_WRONLY | os.O_CREAT)
            try:
                while os.write(filler, bytes(4096)):
                    pass
            except OSError:
                pass
            os.close(filler)
            self.expect_incident("disk-full", "The disk is full", "New pushes are refused with 503", "accepted pushes are stored", "Free space")
            expect(self.lane("orders")).to_contain_text("Not storing")
            os.truncate(self.disk + "/filler", 0)
            self.expect_calm()


@unittest.skipUnless(list(pathlib.Path("/usr/lib/postgresql").glob("*/bin")), "requires PostgreSQL")
class Database(OutageWalk):
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

    def test_the_database_hangs(self):
        self.open()
        with Traffic(self, *self.apps):
            expect(self.page.locator("#facts")).to_contain_text(re.compile("[1-9] delivered"))
            self.signal_server(signal.SIGSTOP)
            start = time.monotonic()
            banner = self.page.locator("#incidents .banner").first
            expect(banner).to_contain_text(re.compile("The database does not answer " + CLOCK))
            self.assert_fast("database-away", time.monotonic() - start, LIMIT)
            expect(self.banner("database-away")).to_contain_text("New pushes are refused with 503")
            expect(self.tile("Waiting")).to_contain_text("unknown")
            self.signal_server(signal.SIGCONT)
            self.expect_calm()


if __name__ == "__main__":
    unittest.main()
