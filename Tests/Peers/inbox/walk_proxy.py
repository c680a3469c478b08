# SPDX-License-Identifier: Apache-2.0

"""The inbox behind nginx: with its defaults, below a path, and with TLS."""

import unittest

import nginx
from inbox_walk import InboxWalk, push
from playwright.sync_api import expect


@unittest.skipUnless(nginx.PROGRAM, "requires nginx, which `make test` installs")
class Proxy(InboxWalk):
    def put_before(self, block, is_encrypted=False):
        """Starts nginx; PORT in the server block is the port of the inbox."""
        server = nginx.Nginx(block.replace("PORT", str(self.simulator.port)), is_encrypted)
        self.addCleanup(server.stop)
        return server.url

    def go(self, url):
        self.open_page(ignore_https_errors=True)
        self.page.goto(url)
        expect(self.page.locator("#live")).to_have_text("Live")

    def test_pushes_appear_behind_a_proxy_with_default_settings(self):
        self.go(self.put_before("location / { proxy_pass http://127.0.0.1:PORT; }"))
        self.simulator.import_pushes(push(1), push(2))
        expect(self.rows()).to_have_count(2)
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")

    def test_pages_and_changes_work_below_a_path_behind_tls(self):
        block = "location /tools/inbox/ { proxy_pass http://127.0.0.1:PORT/; proxy_set_header Host $http_host; }"
        url = self.put_before(block, is_encrypted=True) + "/tools/inbox/"
        self.go(url)
        self.simulator.import_pushes(push(1), push(2))
        expect(self.rows()).to_have_count(2)
        self.rows().first.click()
        expect(self.page.locator("#detail h2")).to_have_text("Order 2")
        with self.page.expect_response(lambda response: response.request.method == "PUT") as change:
            self.page.locator("#detail").get_by_role("button", name="Pin").click()
        self.assertTrue(change.value.ok, change.value.status)
        self.page.get_by_role("link", name="Faults").click()
        expect(self.page.locator("#page h2").first).to_have_text("Faults")
        self.page.reload()
        expect(self.page.locator("#page h2").first).to_have_text("Faults")

    def test_a_change_without_the_name_of_the_host_is_refused_with_the_reason(self):
        self.allow_errors("status of 403")
        self.go(self.put_before("location / { proxy_pass http://127.0.0.1:PORT; }"))
        self.simulator.import_pushes(push(1))
        self.rows().first.click()
        self.page.locator("#detail").get_by_role("button", name="Pin").click()
        expect(self.page.locator(".toast")).to_contain_text("Host")
        self.assertEqual(self.simulator.ask("GET", "/api/v1/pushes/1").get("pinned"), None)


if __name__ == "__main__":
    unittest.main()
