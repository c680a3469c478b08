# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the functions of both pages that draw nothing, in Node without a browser."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

import playwright
from browser import PATIENCE
from inbox_walk import Simulator

PAGES = pathlib.Path(__file__).resolve().parents[3] / "Sources/CMartletPages"
# The Node of playwright, so that the tests need no other one.
NODE = pathlib.Path(playwright.__file__).parent / "driver/node"


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        for file in PAGES.glob("*/*.js"):
            shutil.copy(file, cls.directory)
        (cls.directory / "package.json").write_text('{"type": "module"}')
        # The only script that is generated.
        simulator = Simulator()
        cls.addClassCleanup(simulator.stop)
        name = "push-types.js"
        (cls.directory / name).write_bytes(urllib.request.urlopen(f"{simulator.url}/page/{name}").read())

    def check(self, *modules, cases):
        """Checks the values of expressions, in which `m` has the functions of the modules; an error has its message."""
        # The address and the events of a window are all of it that the modules use when they are loaded.
        script = f"""
            Object.assign(globalThis, {{ addEventListener() {{}}, location: {{ hash: "" }} }})
            const m = Object.assign({{}}, ...await Promise.all({json.dumps(modules)}.map((name) => import(`./${{name}}.js`))))
            const values = [{", ".join(f"() => {expression}" for expression in cases)}].map((value) => {{
                try {{ return value() }} catch (error) {{ return error.message || error.constructor.name }}
            }})
            console.log(JSON.stringify(values))
        """
        run = subprocess.run(
            [NODE, "--input-type=module", "--eval", script], cwd=self.directory, env={**os.environ, "TZ": "UTC", "LC_ALL": "en_US.UTF-8"},
            stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
        found = json.loads(run.stdout)
        for (expression, expected), value in zip(cases.items(), found, strict=True):
            with self.subTest(expression):
                self.assertEqual(value, expected)

    def test_queries(self):
        fields = json.dumps([{"name": "verdict", "values": ["shown", "stored"]}, {"name": "title"}, {"name": "number"}])
        self.check("query", cases={
            """m.terms('type:alert "a b" status:400 OR status:410')""": ["type:alert", '"a b"', "status:400 OR status:410"],
            """m.terms('title:"a b')""": ['title:"a b'],
            "m.terms('OR a')": ["OR a"],
            "m.exactTerm('tag', 'checkout')": "tag:=checkout",
            "m.exactTerm('tag', 'slow path')": 'tag:"=slow path"',
            "m.exactTerm('size', '7')": "size:7",
            """m.exactTerm('title', 'a "b"')""": None,
            "m.contains('type:alert is:stored', 'is:stored')": True,
            "m.contains('type:alert', 'alert')": False,
            "m.toggled('type:alert ready', 'type:voip', ['type:alert'])": "ready type:voip",
            "m.toggled('type:alert ready', 'type:alert', [])": "ready",
            f"m.problem('verdict:shown number:3- title:a', {fields})": "",
            f"m.problem('verdict:x', {fields})": "verdict:x is not known; use shown or stored.",
            f"m.problem('number:x', {fields})": "number:x must be numbers and ranges, as in number:3,7-9 or number:43-",
            f"""m.problem('title:"a', {fields})""": 'A quotation mark is missing at the end of title:"a',
            f"m.problem('a OR', {fields})": "OR must be between two terms, as in status:400 OR status:410.",
            f"m.problem('titel:x', {fields})": "There is no field titel: in the search language; did you mean title:?",
            "m.problem('titel:x', [])": "",
        })

    def test_numbers(self):
        even = "Array.from({ length: 2000 }, (_, index) => 2 * index)"
        self.check("numbers", cases={
            "m.ranges([3, 1, 10, 2, 7])": ["1-3", "7", "10"],
            "m.numbersIn(['1-3', '7'])": [1, 2, 3, 7],
            "m.queries([])": [],
            "m.queries([1, 2, 9])": ["number:1-2,9"],
            f"m.queries({even}).every(({{ length }}) => length <= 4000)": True,
            f"m.queries({even}).flatMap((query) => m.numbersIn(query.slice('number:'.length).split(','))).length": 2000,
        })

    def test_counts(self):
        self.check("texts", cases={
            "m.grouped(999)": "999",
            "m.grouped(1234567)": "1,234,567",
            "m.counted(0, 'push')": "0 pushes",
            "m.counted(1, 'stored push')": "1 stored push",
            "m.counted(2500, 'push')": "2,500 pushes",
            "m.counted(2, 'subscription')": "2 subscriptions",
            "m.counted(2, 'push was', 'pushes were')": "2 pushes were",
            "m.durationText(7200)": "2 h",
            "m.durationText(7500)": "2 h 5 min",
            "m.durationText(86400)": "1 day",
            "m.durationText(172800)": "2 days",
            "m.relativeText(Date.now() - 1000)": "now",
            "m.relativeText(Date.now() - 60500)": "1 min ago",
            "m.relativeText(Date.now() + 7200900)": "in 2 h",
            "m.shortTime(0)": "Jan 1, 1970",
            # The time of a day of last year is at most a day ago just after New Year, and then has its time.
            "/:\\d\\d/.test(m.shortTime(Date.now() - 86_300_000))": True,
            "/:\\d\\d/.test(m.shortTime(Date.now() - 86_300_000, true))": True,
            "/:\\d\\d/.test(m.shortTime(Date.now() - 3 * 86_400_000, true))": False,
            "m.completeTime(1e300)": "1e+297 s since 1970",
        })

    def test_json_is_read_as_it_was_written(self):
        text = json.dumps('{"a/b":[1,12345678901234567890],"c":1.0,"c":2}')
        at = lambda pointer: f"(({{ node, isExact }}) => [{text}.slice(node.start, node.end), isExact])(m.locate(m.parse({text}), '{pointer}'))"
        self.check("json-text", cases={
            at("/a~1b/1"): ["12345678901234567890", True],
            at("/c"): ["2", True],
            at("/a~1b/9/x"): ["[1,12345678901234567890]", False],
            "m.formatted('{\"a\":12345678901234567890,\"b\":[],\"c\":{\"d\":1.0}}')":
                '{\n  "a": 12345678901234567890,\n  "b": [],\n  "c": {\n    "d": 1.0\n  }\n}',
            "m.replaced('{\"a\":1, \"b\":[2]}', { '/b/0': '3', '/x': '4' })": '{"a":1, "b":[3]}',
            "m.position('a\\nbc', 3)": {"line": 2, "column": 2},
            "m.parse('{\"a\" 1}')": "expected a colon",
            "m.parse('[1')": "expected a comma or ], but the text ends",
            "m.parse('1 2')": "expected the end of the text",
            "m.parse('[01]')": "expected a comma or ]",
            "m.parse('['.repeat(501) + ']'.repeat(501))": "expected less nesting",
        })

    def test_values_become_swift(self):
        literal = lambda text: f"m.literal(m.parse({json.dumps(text)}), {json.dumps(text)})"
        ride = json.dumps('{"line":7,"for":"a","stop":{"name":"b","delays":[1,2.5]}}')
        types = ("struct Ride: Encodable {\n    struct Stop: Encodable {\n        var name: String\n        var delays: [Double]\n    }\n\n"
                 "    var line: Int\n    var `for`: String\n    var stop: Stop\n}")
        self.check("swift-values", "json-text", cases={
            literal("1234567"): "1_234_567",
            literal("-12345678.5e3"): "-12345678.5e3",
            literal('"a\\u2028\\n\\/"'): '"a\\u{2028}\\n/"',
            literal("[1,2]"): "[1, 2]",
            literal("9223372036854775808"): "Unsupported",
            literal("null"): "Unsupported",
            "m.call('f', [['a', '1'], ['b', undefined], ['', 'x']]).text('')": "f(a: 1, x)",
            "m.call('f', [['a', '1'], ['b', '2'], ['c', '3'], ['d', '4']]).text('  ')":
                "f(\n      a: 1,\n      b: 2,\n      c: 3,\n      d: 4\n  )",
            f"m.codable(m.parse({ride}).children, {ride}, 'Ride').declarations": [types],
            f"m.codable(m.parse({ride}).children, {ride}, 'Ride').value.text('')":
                'Ride(line: 7, for: "a", stop: Ride.Stop(name: "b", delays: [1, 2.5]))',
            "m.codable(m.parse('{\"a-b\":1}').children, '{\"a-b\":1}', 'Ride')": "Unsupported",
        })

    def test_addresses(self):
        current = "(location.hash = '#/push/a%2Fb/%E0%A4?query=a%3Fb', m.Address.current)"
        self.check("address", cases={
            "new m.Address(['push', 'a/b'], 'is:refused & more').text": "#/push/a%2Fb?query=is%3Arefused%20%26%20more",
            "new m.Address(['devices']).text": "#/devices",
            f"{current}.parts": ["push", "a/b", "%E0%A4"],
            f"{current}.query": "a?b",
        })

    def test_steps_of_activities(self):
        push = lambda number, kind, text: {"number": number, "headers": {}, "verdict": {"kind": kind, "text": text},
                                           "payload": {"aps": {"event": "update", "content-state": {"n": number}}}}
        late = "Not shown: its timestamp {} is not after 9 of the content on screen"
        pushes = json.dumps([push(3, "not-shown", late.format(7)), push(1, "shown", "Delivered"), push(2, "not-shown", late.format(8))])
        self.check("steps", cases={
            f"m.steps({pushes}).map(({{ push, shown }}) => [push.number, shown.number])": [[1, 1], [2, 1], [3, 1]],
            f"m.summary(m.steps({pushes}))": {
                "tone": "bad", "facts": [{"text": "2 of 3 pushes were not shown", "causes": [
                    {"text": "its timestamp … is not after … of the content on screen", "isLast": True, "number": 3}]}]},
            f"m.summary(m.steps({pushes}.slice(1, 2)))": {"tone": "good", "facts": [{"text": "The push was shown", "causes": []}]},
            "m.changes({ a: { b: 1 }, d: null }, { a: { b: 2 }, c: [] }).map(({ path, kind }) => `${path} ${kind}`)":
                ["a.b changed", "c added", "d removed"],
        })

    def test_fault_rules(self):
        rule = "{ do: 'hang', match: { 'device-prefix': '5D3A', priority: '10' } }"
        self.check("fault-rules", cases={
            "m.action({ do: 'delay', seconds: 1, jitter: 0.5 })": "The response comes after 1 to 1.5 s",
            "m.action({ do: 'refuse-connections', limit: 1 })": "The next connection is closed before the TLS handshake",
            "m.action({ do: 'skew-clock', seconds: -60 })": "The server’s clock is 60 s behind",
            "m.action({ do: 'throttle', limit: 1 })": "A device gets 429 TooManyRequests after 1 push in a second",
            "m.action({ do: 'limit-window', limit: 65535 })": "A client may send 65,535 octets on a stream before it must wait",
            "[2, 3, 11, 21].map((every) => m.scope({ every }))":
                ["every 2nd push", "every 3rd push", "every 11th push", "every 21st push"],
            "m.scope({ probability: 0.5, after: 2, count: 1, match: { priority: '5' } })":
                "every push, with a probability of 50 %, after the first 2, at most once, with the priority 5",
            "m.scope({ probability: 0.002 })": "every push, with a probability of 0.2 %",
            "m.scope({ match: { topic: 'a', 'push-type': 'alert', 'device-prefix': '5d', 'device-suffix': '6a' } })":
                "every push, with the topic a, of the push type alert, to device tokens that begin with 5d, to device tokens that end with 6a",
            "m.action({ do: 'reset-stream', code: 2 })": "The stream is reset with the error code INTERNAL_ERROR (2)",
            "m.action({ do: 'goaway', code: 99, 'debug-data': '{}', 'includes-request': false })":
                "The connection ends with GOAWAY and the error code 99, with the debug data {}, and the push is not processed",
            "m.action({ do: 'drain' })": "The connection shuts down gracefully",
            f"m.affects({rule}, {{ fault: 'hang', 'device-token': '5d3a6a1c', headers: {{ 'apns-priority': '10' }} }})": True,
            f"m.affects({rule}, {{ fault: 'hang', 'device-token': '5d3a6a1c', headers: {{}} }})": False,
        })

    def test_texts_for_other_tools_and_phones(self):
        file = lambda text: f"m.simulatorFile({{ headers: {{ 'apns-topic': 'app' }} }}, '{text}')"
        self.check("formats", "preview-text", "preview-language", cases={
            file('{"aps":{}}'): '{\n  "Simulator Target Bundle": "app", "aps":{}}',
            file("{ }"): '{\n  "Simulator Target Bundle": "app"}',
            "m.textWidth('')": 0,
            "m.textWidth('é') === m.textWidth('e')": True,
            "m.textWidth('👩‍👩‍👧') === m.textWidth('👍')": True,
            "m.textWidth('W') > 3 * m.textWidth('i')": True,
            "m.languageName('de')": "German",
            "m.languageName('no language')": "no language",
            "m.clock(new Date(0))": "12:00",
        })

    def test_stored_pushes_and_their_lines(self):
        push = "((number, thread) => ({ number, findings: [], headers: {}, payload: { aps: { 'thread-id': thread } } }))"
        store = f"""(() => {{
            const store = new m.PushStore(() => {{}}, [2])
            store.append([5, 4, 2, 1].map((number) => {push}(number)))
            for (const number of [7, 6, 8]) store.arrived({push}(number))
            store.forget(4, 4)
            store.settle()
            return store
        }})()"""
        lines = f"new m.Lines([{push}(4, 'a'), {push}(3), {push}(2, 'b'), {push}(1, 'a')], 'thread', new Set(['b']))"
        numbers = "((store) => store.all.map(({ number }) => number))"
        self.check("store", "lines", cases={
            f"{numbers}({store})": [8, 7, 5, 1],
            f"((store) => (store.restore([2]), {numbers}(store)))({store})": [8, 7, 5, 2, 1],
            f"((store) => (store.hide([8, 1]), {numbers}(store)))({store})": [7, 5],
            f"{store}.find(2).number": 2,
            f"{store}.find(4)": None,
            f"{lines}.count": 6,
            f"Array.from({{ length: 6 }}, (_, index) => {lines}.at(index)).map(({{ push, group }}) => push?.number ?? group.label)":
                ["a", 4, 1, "b", "no thread", 3],
            f"((lines) => Array.from({{ length: 6 }}, (_, index) => lines.indexAt(lines.top(index))))({lines})": [0, 1, 2, 3, 4, 5],
            f"{lines}.indexOfPush({{ number: 2, headers: {{}}, payload: {{ aps: {{ 'thread-id': 'b' }} }} }})": -1,
        })

    def test_suggestions_of_the_search(self):
        language = json.dumps({"fields": [{"name": "verdict", "summary": "the result", "values": ["shown", "stored"]},
                                          {"name": "title", "summary": "the title", "example": "title:order"}], "recent": ["is:refused"]})
        labels = lambda query, values="[]": (
            f"m.suggestions({json.dumps(query)}, {len(query)}, {{ ...{language}, valuesOf: () => {values} }}).map(({{ label }}) => label)")
        self.check("completion", cases={
            labels(""): ["is:refused", "verdict:", "title:"],
            labels("is:refused ver"): ["verdict:"],
            labels("-verdict:st"): ["-verdict:stored"],
            labels("sho"): ["verdict:shown"],
            labels("title:"): ["title:order"],
            labels("title:a", "[{ value: 'a b', label: 'a b' }]"): ['title:"=a b"'],
            labels('"ver'): [],
            f"m.suggestions('a verdict:sh b', 12, {{ ...{language}, valuesOf: () => [] }})[0].query": "a verdict:shown b",
        })

    def test_names_of_pushes(self):
        push = lambda aps, **more: json.dumps({"headers": {"apns-topic": "com.example.app", **more}, "findings": [], "payload": {"aps": aps}})
        activity = {"apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity"}
        self.check("push", "verdict", cases={
            f"m.kind({push({})})": "silent",
            f"m.kind({push({'alert': 'a'})})": "alert",
            f"m.kind({push({}, **activity)})": "activity",
            f"m.app({push({}, **activity)})": "com.example.app",
            f"m.headline({push({'alert': {'title': 'Order'}})})": "Order",
            f"m.headline({push({'alert': {'loc-key': 'READY', 'loc-args': ['7']}})})": "⟨READY 7⟩",
            f"m.headline({push({'content-state': {'minutes': 5}}, **activity)})": "minutes: 5",
            f"m.excerpt({push({'event': 'update', 'content-state': {'status': 'On its way', 'minutes': 5}}, **activity)})": "update · minutes: 5",
            "m.short('0123456789abcdef0123456789')": "01234567…6789",
            "m.severity({ findings: [{ rule: 'connection-per-push', severity: 'error' }] })": None,
            "m.severity({ findings: [{ rule: 'a', severity: 'warning' }, { rule: 'b', severity: 'error' }] })": "error",
            "m.verdictKind({ status: 0 })": "unanswered",
            "m.verdictKind({ status: 200 })": None,
            "m.eventText('discarded-expired')": "Discarded: expired",
            "m.eventText('not-shown')": "Not shown",
        })

    def test_notifications(self):
        # Pushes with an alert and members beside aps.
        read = lambda **more: f"m.notification({json.dumps({'headers': {}, 'findings': [], 'payload': {'aps': {'alert': 'Hi'}, **more}})})"
        attachment = {"url": "file:///a/b%20c.mp4", "type": "public.mpeg-4", "thumbnail": {"hidden": True}}
        self.check("preview-notification", cases={
            f"{read()}.body.text": "Hi",
            f"{read(sender={'name': 'Ada'})}.sender": {"name": "Ada", "place": "payload/sender"},
            f"{read(photo='https://example.com/a/b.png')}.attachments": [
                {"name": "b.png", "type": "image", "url": "https://example.com/a/b.png", "place": "payload/photo"}],
            f"{read(author={'avatar': 'https://example.com/a.png'})}.attachments": [],
            f"{read(link='https://example.com/orders/7')}.attachments": [],
            f"{read(liveSurface={'attachments': [attachment]})}.attachments": [
                {"name": "b c.mp4", "type": "video", "url": attachment["url"], "place": "payload/liveSurface/attachments/0", "isHidden": True}],
        })

    def test_answers_to_pushes(self):
        self.check("figures", cases={
            "m.answerText({ apns: { status: 429, reason: 'TooManyRequests' } })": "429 TooManyRequests",
            "m.answerText({ history: { attempts: [{ status: 503 }, { reason: 'ConnectionLost' }] } })": "ConnectionLost",
            "m.answerText({ apns: { reason: 'Damaged' } })": "Not sent: its stored data is damaged",
            "m.answerText({ apns: { reason: 'FormerUser' } })": "Not sent: its user does not have the token any more",
            "m.answerText({})": "",
            "[{ apns: { reason: 'Damaged' } }, {}].map(m.isDamaged)": [True, False],
        })

    def test_values_of_plots(self):
        samples = json.dumps([{"lanes": [{"backlog": lane} for lane in range(count)]} for count in (7, 8)])
        names = json.dumps([f"lane {lane}" for lane in range(8)])
        own = json.dumps(["lane 1", "lane 4"])
        lines = lambda is_maximum: f"m.lines({{ lanes: {names}, samples: {samples} }}, {own}, 'backlog', {is_maximum})"
        # Lane 0 has the only failures, lane 1 the highest age, and the waiting pushes of the other lanes rise with their number.
        figures = json.dumps([{"lanes": [{"backlog": 10 + lane, "failed": 0.1 * (lane == 0), "oldest": 5 * (lane == 1)} for lane in range(8)]}])
        colours = lambda lanes: f"[...m.laneColours({lanes}, new Map([['b', 0], ['a', 3]]))]"
        pushes = json.dumps([{"time": time, "status": status, "headers": {"apns-priority": priority}}
                             for time, status, priority in [(0, 200, "5"), (7300, 200, "10"), (7301, 200, "5"), (7302, 400, "5")]])
        self.check("plot", "budget", cases={
            f"{lines('false')}.map(({{ name }}) => name)": ["lane 1", "lane 4", "6 others"],
            f"{lines('true')}.at(-1).name": "highest of 6 others",
            f"{lines('false')}.at(-1).values": [16, 23],
            f"{lines('true')}.at(-1).values": [6, 7],
            f"{lines('false')}[1].values": [4, 4],
            f"m.lines({{ lanes: {names}, samples: {samples} }}, {names}, 'backlog', false)[7].values": [None, 7],
            f"m.ownLanes({{ lanes: {names}, samples: {figures} }}, ['backlog', 'failed', 'oldest'])":
                [f"lane {lane}" for lane in [0, 1, 5, 6, 7]],
            f"m.ownLanes({{ lanes: {names}, samples: [] }}, ['backlog']).length": 5,
            f"m.ownLanes({{ lanes: {names}.slice(2), samples: [] }}, ['backlog']).length": 6,
            colours("['a', 'b', 'c', 'd']"): [["a", 3], ["b", 0], ["c", 1], ["d", 2]],
            "[...m.laneColours(['x', 'y'])]": [["x", 0], ["y", 1]],
            "[0, 1, 3, 60, 1001].map(m.roundUp)": [1, 1, 5, 100, 2000],
            "m.markMeanings([{ kind: 'started' }, { kind: 'outage-began' }, { kind: 'reloaded' }])":
                [["bad", "outage or failure"], ["", "start, reload or change of the fleet"]],
            "m.markMeanings([])": [],
            f"m.perHour({pushes})": [{"start": 0, "high": 0, "low": 1}, {"start": 3600, "high": 0, "low": 0}, {"start": 7200, "high": 1, "low": 1}],
            "m.axisValues(1)": [0, 1],
            "m.axisValues(9)": [0, 5, 10],
        })


if __name__ == "__main__":
    unittest.main()
