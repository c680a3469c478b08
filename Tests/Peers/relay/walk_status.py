# SPDX-License-Identifier: Apache-2.0

"""The relay's status page: sign-in, figures, lanes, plots and dead letters."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from playwright.sync_api import expect, sync_playwright

MARTLET = os.environ["MARTLET_PROGRAM"]
KEY = "mrt_abcdefghijklmnopqrstuvwxyz234567"
READER = "mrt_765432zyxwvutsrqponmlkjihgfedcba"


class Program:
    """A martlet server that prints its ports when it is ready."""

    def __init__(self, ready, *arguments):
        self.process = subprocess.Popen([MARTLET, *arguments], stdout=subprocess.PIPE, text=True)
        self.text = ""
        for line in self.process.stdout:
            self.text += line
            if ready in line:
                break

    def port(self, pattern):
        return int(re.search(pattern, self.text)[1])

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class RelayPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.simulator = Program("Press Control-C", "simulate", "--h2c", "--port", "0", "--channel-port", "0", "--inbox-port", "0")
        apns_port = self.apns_port()
        self.configure(apns_port)
        self.relay = Program("Press Control-C", "relay", "--configuration", self.directory.name + "/relay.json")
        self.url = f"http://127.0.0.1:{self.relay.port(r'in JSON on port ([0-9]+)')}"
        self.context = self.browser.new_context(viewport={"width": 1280, "height": 800})
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def apns_port(self):
        inbox = re.search(r"http://localhost:(\d+)/", self.simulator.text)[1]
        info = json.load(urllib.request.urlopen(f"http://127.0.0.1:{inbox}/api/v1/info"))
        return int(info["apns"].rsplit(":", 1)[1])

    def configure(self, apns_port):
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
             self.directory.name + "/key.p8"], check=True, capture_output=True)

        def caller(name, key, scopes):
            return {"name": name, "key-sha256": hashlib.sha256(key.encode()).hexdigest(), "apps": ["orders", "rides"],
                    "scopes": scopes}

        def app(name):
            return {"name": name, "bundle-ids": [f"com.example.{name}"], "team-id": "DEF123GHIJ",
                    "key-id": "ABC123DEFG", "key-file": "key.p8", "environments": ["development"]}

        configuration = {
            "data": "relay.sqlite", "listen": {"development": "127.0.0.1:0"}, "http": "127.0.0.1:0",
            "apps": [app("orders"), app("rides")],
            "callers": [caller("all", KEY, ["send", "read", "manage"]), caller("reader", READER, ["send"])],
            "apple": {"development": {"host": "127.0.0.1", "port": apns_port, "clear": True}},
        }
        with open(self.directory.name + "/relay.json", "w") as file:
            json.dump(configuration, file)

    def tearDown(self):
        self.context.close()
        self.relay.stop()
        self.simulator.stop()
        self.directory.cleanup()

    def push(self, count, app="orders"):
        for _ in range(count):
            body = json.dumps({"app": app, "to": "5d3a6a1c", "payload": {"aps": {"alert": "Hi"}}}).encode()
            request = urllib.request.Request(
                self.url + "/v1/pushes?wait=20", body, {"authorization": "Bearer " + KEY}, method="POST")
            urllib.request.urlopen(request).read()

    def enter(self, key):
        self.page.goto(self.url)
        self.page.get_by_label("API key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()

    def figure(self, name):
        return self.page.locator(".figure", has=self.page.locator("dt", has_text=re.compile(f"^{name}$"))).locator("dd")

    def test_figures_and_lanes_are_updated(self):
        self.push(3)
        self.enter(KEY)
        expect(self.figure("delivered")).to_have_text("3")
        expect(self.page.locator("#lanes tbody tr")).to_have_count(2)
        expect(self.page.locator("#lanes tbody tr").first).to_contain_text("orders")
        expect(self.page.locator("#lanes .bar").first).to_have_attribute("aria-label", "3 delivered")
        self.push(2, "rides")
        expect(self.figure("delivered")).to_have_text("5")
        expect(self.page.locator("#plots figure")).to_have_count(3)
        expect(self.page.locator("#state")).to_have_text("Accepting pushes")
        expect(self.page.locator("#dead")).to_contain_text("No dead letters")
        self.assertEqual(self.errors, [])

    def test_the_page_requires_a_key_with_the_scope_read(self):
        self.enter("mrt_wrong")
        expect(self.page.locator("#key-error")).not_to_be_empty()
        expect(self.page.locator("#status")).to_be_hidden()
        self.page.get_by_label("API key").fill(READER)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.locator("#key-error")).to_contain_text("does not have the scope read")
        self.page.get_by_label("API key").fill(KEY)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#status")).to_be_visible()
        self.page.reload()
        expect(self.page.locator("#status")).to_be_visible()
        self.page.get_by_role("button", name="Sign out").click()
        self.page.reload()
        expect(self.page.locator("#sign-in")).to_be_visible()

    def test_a_lost_connection_is_shown(self):
        self.enter(KEY)
        expect(self.page.locator("#live")).to_have_text("Live")
        self.relay.stop()
        expect(self.page.locator("#live")).to_have_text("Connection lost. Retrying…", timeout=10_000)

    def test_a_rejected_reload_is_shown(self):
        self.enter(KEY)
        with open(self.directory.name + "/relay.json", "w") as file:
            file.write("{")
        self.relay.process.send_signal(signal.SIGHUP)
        expect(self.page.locator(".alarm")).to_contain_text("relay.json is not valid JSON", timeout=10_000)
        self.assertEqual(self.errors, [])

    def test_narrow_screen_in_dark_mode(self):
        self.page.set_viewport_size({"width": 390, "height": 800})
        self.page.emulate_media(color_scheme="dark")
        self.enter(KEY)
        expect(self.page.locator("#lanes tbody tr")).to_have_count(2)
        self.assertEqual(self.page.evaluate("document.documentElement.scrollWidth"), 390)


if __name__ == "__main__":
    unittest.main()
