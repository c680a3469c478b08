# SPDX-License-Identifier: Apache-2.0

"""The size of the inbox, and its compressed files."""

import gzip
import json
import sys
import unittest
import urllib.request

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect


class Weight(InboxWalk):
    def fetch(self, path, **fields):
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        return urllib.request.urlopen(urllib.request.Request(self.simulator.url + path, headers=fields))

    def test_the_page_is_loaded_compressed(self):
        session = self.context.new_cdp_session(self.page)
        session.send("Network.enable")
        received = {}
        session.on("Network.loadingFinished", lambda each: received.update({each["requestId"]: each["encodedDataLength"]}))
        self.open(push(1))
        self.page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        files = [each.response() for each in self.requests if each.url.startswith("http") and "/api/" not in each.url]
        for file in files:
            size = len(file.body())
            self.assertEqual(file.headers.get("content-encoding"), "gzip" if size >= 1024 else None, file.url)
        # The previews are loaded after the list.
        total = sum(len(file.body()) for file in files if "/page/preview" not in file.url)
        paint = self.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"{len(files)} files, {total} bytes, {sum(received.values())} received, first paint after {paint:.0f} ms",
              file=sys.stderr)
        self.assertLess(total, 250_000)
        # Everything, with fields, previews and the first list.
        self.assertLess(sum(received.values()), 150_000)

    def test_python_decodes_pages_and_lists(self):
        self.simulator.import_pushes(*(push(number) for number in range(1, 200)))
        for path in ["/", "/page/app.js", "/api/v1/pushes?view=summary&limit=5000", "/api/v1/export.jsonl"]:
            plain, coded = self.fetch(path), self.fetch(path, Accept_Encoding="gzip")
            self.assertEqual((plain.headers["content-encoding"], coded.headers["content-encoding"]), (None, "gzip"))
            content, compressed = plain.read(), coded.read()
            self.assertEqual(gzip.decompress(compressed), content)
            self.assertLess(len(compressed), len(content) / 2)
        summaries = json.loads(gzip.decompress(self.fetch("/api/v1/pushes?view=summary&limit=5000", Accept_Encoding="gzip").read()))
        self.assertEqual([each["number"] for each in summaries["pushes"]], list(range(199, 0, -1)))

    def test_events_are_not_compressed(self):
        with self.fetch("/api/v1/events?view=summary", Accept_Encoding="gzip") as events:
            self.assertIsNone(events.headers["content-encoding"])
            self.simulator.import_pushes(push(1))
            self.assertEqual(events.readline(), b":\n")
            self.assertIn(b"event: push\n", iter(events.readline, b""))

    def test_the_first_preview_follows_the_list(self):
        self.open(push(1))
        self.rows().first.click()
        expect(self.page.locator(".previews figure").first).to_be_visible()


if __name__ == "__main__":
    unittest.main()
