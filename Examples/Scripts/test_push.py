# SPDX-License-Identifier: Apache-2.0

"""Tests in Python with its standard library only: test_push.py INBOX_URL, as `martlet simulate` prints it."""

import json
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

INBOX = sys.argv.pop(1).rstrip("/")


def call(method, path, body=None, **parameters):
    url = f"{INBOX}{path}?{urllib.parse.urlencode(parameters)}" if parameters else INBOX + path
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


class PushTests(unittest.TestCase):
    def test_the_push_that_was_sent_is_there(self):
        status, found = call("GET", "/api/v1/pushes/wait", query='title:"Order ready"', timeout=5)
        self.assertEqual(status, 200, found)
        self.assertEqual(found["pushes"][0]["headers"]["apns-topic"], "com.example.app")
        self.assertEqual(found["pushes"][0]["findings"], [])

    def test_what_did_not_come_is_explained(self):
        status, missed = call("GET", "/api/v1/pushes/wait", query="title:ready priority:5", timeout=0)
        self.assertEqual(status, 408)
        self.assertEqual(missed["near-misses"][0]["misses"], ["priority:5"])

    def test_things_go_wrong_on_command(self):
        rule = {"do": "respond", "reason": "ServiceUnavailable", "retry-after": 1, "count": 1}
        self.assertEqual(call("PUT", "/api/v1/chaos", {"rules": [rule], "seed": 7})[1]["rules"], [rule])
        self.assertEqual(call("PUT", "/api/v1/chaos", {})[1]["rules"], [])

    def test_many_expectations_at_once(self):
        expected = [{"query": "title:ready", "at-least": 1}, {"query": "is:refused", "at-most": 0}]
        status, verdict = call("POST", "/api/v1/assertions", {"assertions": expected})
        self.assertEqual(status, 200, verdict)

    def test_a_part_of_the_inbox_for_itself(self):
        name = call("POST", "/api/v1/namespaces")[1]["namespace"]
        # Whatever sends: pushes to device tokens that begin with the name belong to this test alone.
        status, missed = call("GET", "/api/v1/pushes/wait", query=f"ns:{name} title:ready", timeout=0)
        self.assertEqual((status, missed["pushes"]), (408, []))
        call("DELETE", f"/api/v1/namespaces/{name}")


if __name__ == "__main__":
    unittest.main()
