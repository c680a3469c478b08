# SPDX-License-Identifier: Apache-2.0

"""The base class of the inbox tests: starts a simulator and a page in Chromium for each test.

Each `walk_*.py` is a separate unittest program, which Scripts/walks runs.
"""

import json
import re
import subprocess
import urllib.request

from browser import MARTLET, BrowserWalk
from playwright.sync_api import expect
from ports import unused_port

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202eevil\u2066'


def push(number, **more):
    return {
        "number": number, "time": 1_795_000_000 + number, "connection": 1, "device-token": f"{number:08x}",
        "headers": {"apns-push-type": "alert", "apns-topic": "com.example.app"}, "status": 200, "apns-id": "",
        "payload": {"aps": {"alert": {"title": f"Order {number}", "body": "Tap to open it."}}}, "deliveries": [], **more,
    }


class Simulator:
    def __init__(self, inbox_port=None, *more, is_encrypted=False, keep=6000):
        protocol = [] if is_encrypted else ["--h2c"]
        self.process = subprocess.Popen(
            [MARTLET, "simulate", *protocol, "--port", "0", "--inbox-port", str(inbox_port or unused_port()), "--keep", str(keep), *more],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"Simulated APNs at (https?://localhost:\d+)", line):
                self.apns = found[1]
            if found := re.search(r"http://localhost:(\d+)/", line):
                self.port = int(found[1])
            if "Press Control-C" in line:
                break
        self.url = f"http://127.0.0.1:{self.port}"

    def import_pushes(self, *pushes):
        lines = "\n".join(json.dumps(each) for each in pushes).encode()
        urllib.request.urlopen(urllib.request.Request(self.url + "/api/v1/import", lines, method="POST")).read()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data, method=method)) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class InboxWalk(BrowserWalk):
    def setUp(self):
        super().setUp()
        self.simulator = Simulator()
        # A test may replace its simulator.
        self.addCleanup(lambda: self.simulator.stop())
        self.open_page()
        self.requests = []
        self.page.on("request", lambda request: self.requests.append(request))

    def open(self, *pushes):
        if pushes:
            self.simulator.import_pushes(*pushes)
        self.page.goto(self.simulator.url)
        expect(self.page.locator("#live")).to_have_text("Live")
        # The list is drawn after that.
        if pushes:
            expect(self.rows().first).to_be_attached()

    def rows(self):
        return self.page.locator(".row")
