# SPDX-License-Identifier: Apache-2.0

"""The relay behind nginx: its status page below a path, and its stream of events with the default settings."""

import json
import unittest
import urllib.request

import nginx
from browser import PATIENCE
from playwright.sync_api import expect
from relay_walk import KEY, RelayWalk


@unittest.skipUnless(nginx.PROGRAM, "requires nginx, which `make test` installs")
class Proxy(RelayWalk):
    def put_before(self, block, is_encrypted=False):
        """Starts nginx; RELAY in the server block is the address of the relay."""
        server = nginx.Nginx(block.replace("RELAY", self.url), is_encrypted)
        self.addCleanup(server.stop)
        return server.url

    def test_the_status_page_works_below_a_path_behind_tls(self):
        url = self.put_before("location /relay/ { proxy_pass RELAY/; }", is_encrypted=True)
        self.open_page(ignore_https_errors=True)
        self.url = url + "/relay/"
        self.enter()
        expect(self.page.locator("#incidents")).to_contain_text("Both apps")
        self.pause("orders")
        expect(self.lane("orders")).to_contain_text("Paused")

    def test_events_are_passed_on_at_once_by_the_default_settings(self):
        url = self.put_before("location / { proxy_pass RELAY; }")
        request = urllib.request.Request(url + "/v1/events", headers={"authorization": "Bearer " + KEY})
        with urllib.request.urlopen(request, timeout=PATIENCE) as events:
            self.push(1)
            for line in events:
                if line.startswith(b"data:"):
                    break
        self.assertIn("orders", json.dumps(json.loads(line.removeprefix(b"data:"))))


if __name__ == "__main__":
    unittest.main()
