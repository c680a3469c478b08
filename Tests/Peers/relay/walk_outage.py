# SPDX-License-Identifier: Apache-2.0

"""The outage drill: the first screen of the status page names cause, scope and time within five seconds, and changes back.

Each test opens the page of a relay that takes pushes, breaks several things one after the other, and repairs them.
"""

import os
import subprocess
import tempfile
import unittest

from drill import LIMIT, Drill
from playwright.sync_api import expect
from relay_walk import Traffic

# The time in seconds after which a relay reports that Apple answers nothing.
SILENCE = 10


class Apple(Drill):
    def respond(self, reason, **match):
        return lambda: self.set_faults({"do": "respond", "reason": reason, **match})

    def pause_all(self, action):
        for app in self.apps:
            self.ask("POST", f"/v1/apps/{app}/lanes/development/{action}")

    def use_other_keys(self):
        self.set_faults()
        for number, app in enumerate(self.configuration["apps"]):
            app["key-id"] = f"ABC123DEF{number}"
        self.write_configuration()
        self.reload()

    def test_apple_fails_in_every_way(self):
        self.open()
        # Before Apple has accepted any: pushes that were accepted in the last minute would show that the lanes deliver.
        self.set_faults({"do": "respond", "reason": "TooManyRequests"})
        with Traffic(self, *self.apps) as self.traffic:
            self.drill(
                "not-accepted", "fails", lambda: None, self.set_faults, "429 TooManyRequests", "attempts of the last minute",
                also=["retrying"])
            self.set_faults({"do": "delay", "seconds": 0.5})
            for _ in range(3):
                self.page.wait_for_timeout(1000)
                self.assertIn("calm", self.read({"calm"}), "a slow answer is an answer")
            self.drill(
                "down", "apple-unreachable", self.stop_simulator, lambda: self.start_simulator(self.apns_port),
                "for orders, rides and wallet", "none is lost.", "Nothing to do unless it lasts 10 min or pushes expire.")
            for kind in ["outage-began", "outage-ended"]:
                expect(self.page.locator(".plot").first.locator(f'.mark[data-kind="{kind}"]').first).to_be_attached()
            self.drill(
                "errors", "apple-errors", self.respond("ServiceUnavailable", match={"topic": "com.example.rides"}), self.set_faults,
                "Apple answers with errors for rides", "ServiceUnavailable", "none is lost")
            self.drill(
                "refused", "key-refused", self.respond("InvalidProviderToken"), self.use_other_keys,
                "Apple refuses the key ABC123DEFG of orders, rides and wallet", "InvalidProviderToken", "Compare key-id")
            self.drill(
                "paused", "paused", lambda: self.pause_all("pause"), lambda: self.pause_all("resume"),
                "orders, rides and wallet are paused by operator", "Resume with")

    def restart_simulator(self):
        self.stop_simulator()
        self.start_simulator(self.apns_port)

    def test_apple_does_not_answer(self):
        self.open()
        with Traffic(self, *self.apps) as self.traffic:
            self.drill(
                "silent", "apple-silent", lambda: self.set_faults({"do": "hang"}), self.restart_simulator, "NoAnswer", also=["down"],
                limit=SILENCE + LIMIT)


@unittest.skipUnless(os.geteuid() == 0, "requires root to mount a small file system")
class Disk(Drill):
    def data(self):
        self.disk = tempfile.mkdtemp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", self.disk], check=True)
        self.addCleanup(os.rmdir, self.disk)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)
        return self.disk + "/relay.sqlite"

    def fill(self):
        filler = os.open(self.disk + "/filler", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(filler, bytes(4096)):
                pass
        except OSError:
            pass
        os.close(filler)

    def test_the_disk_is_full(self):
        self.open()
        with Traffic(self, *self.apps) as self.traffic:
            expect(self.page.locator("#facts")).to_contain_text("free on its disk")
            self.drill(
                "full", "disk-full", self.fill, lambda: os.truncate(self.disk + "/filler", 0), "New pushes are refused with 503, ",
                "accepted pushes are stored", f"Free space on the disk of {self.disk}/relay.sqlite", before=["low"])
            expect(self.page.locator("#incidents")).to_contain_text("pushes were refused with 503, no accepted push was lost.")


if __name__ == "__main__":
    unittest.main()
