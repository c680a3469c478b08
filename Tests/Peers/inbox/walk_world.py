# SPDX-License-Identifier: Apache-2.0

"""A world of 1 000 pushes: the page, the HTTP interface, the export and the archive agree with a model about each."""

import json
import random
import re
import signal
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from inbox_walk import InboxWalk, Simulator
from phone_model import STATUSES, part, presentation
from playwright.sync_api import expect
from push_world import COUNT, SEED, World

# The number of pushes that are opened, and the least number of each kind of verdict among them.
OPENED, OPENED_OF_KIND = 60, 2
# The number of timelines that are opened, and of differences that are reported for each source.
TIMELINES, REPORTED = 6, 12
# What the page calls a verdict, with its tone; the verdicts without a chip; and those whose reason is in the row.
LABELS = {
    "shown": ("Shown", "good"), "delivered": ("Delivered", "good"), "replaced": ("Replaced", ""), "ended": ("Ended", ""), "stored": ("Stored", "warning"),
    "not-shown": ("Not shown", "bad"), "discarded": ("Discarded", "bad"), "refused": ("Refused", "bad"), "unanswered": ("No answer", "bad"),
}
QUIET, EXPLAINED = {"shown", "delivered", "refused", "unanswered"}, {"not-shown", "discarded", "stored", "unanswered"}
# What the page calls the parts of a notification, and says about an interruption level.
NAMES = {"level": "Interruption", "sound": "Sound", "badge": "Badge"}
LEVELS = {
    "passive": "passive: only in the list, the screen stays dark", "active": "active: lights the screen",
    "time-sensitive": "time-sensitive: also during a Focus, if the app has the capability",
    "critical": "critical: also when muted and during a Focus, if Apple has granted the entitlement",
}


class WorldWalk(InboxWalk):
    def setUp(self):
        super().setUp()
        self.differences = []

    def get(self, path):
        return self.simulator.ask("GET", path)

    def everything(self):
        """The whole pushes by their numbers, as the list returns them."""
        pushes, before = [], COUNT * 10
        while found := self.get(f"/api/v1/pushes?limit=1000&before={before}")["pushes"]:
            pushes, before = pushes + found, found[-1]["number"]
        return {push["number"]: push for push in pushes}

    def exported(self):
        with urllib.request.urlopen(self.simulator.url + "/api/v1/export.jsonl") as answer:
            return {push["number"]: push for push in map(json.loads, answer.read().splitlines())}

    def expect_equal(self, found, expected, source):
        """Compares what a source says about each push, device or activity with what the model says."""
        wrong = []
        for name in found.keys() | expected.keys():
            one, other = found.get(name), expected.get(name)
            if isinstance(one, dict) and isinstance(other, dict):
                one, other = ({each: value.get(each) for each in one.keys() | other.keys() if one.get(each) != other.get(each)} for value in (one, other))
            if one != other:
                wrong.append(f"{name}: {one}, expected {other}")
        if wrong:
            self.differences.append("\n".join([f"{source}: {len(wrong)} differences", *sorted(wrong)[:REPORTED]]))

    def local(self, number, text):
        """A text about a push as the page says it in the time of its browser, which is UTC, in American English."""
        def shown(match):
            day = match[1] or time.strftime("%Y-%m-%d", time.gmtime(self.apple.pushes[number].at // 1000))
            at, now = time.strptime(f"{day} {match[2]}", "%Y-%m-%d %H:%M"), time.gmtime()
            form = "" if at[:3] == now[:3] else "%b %-d, " if at[0] == now[0] else "%b %-d, %Y, "
            return time.strftime(f"{form}%-I:%M %p", at)
        return re.sub(r"(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d) UTC", shown, text)

    def expected(self, number):
        """What each source must say about a push."""
        apple = self.apple
        verdict, reason = apple.verdict(number), apple.answers.get(number)
        status = 0 if apple.pushes[number].lost else 200 if reason is None else STATUSES.get(reason, 400)
        words = presentation(apple.pushes[number])
        return {"status": status, "reason": reason, **vars(verdict), "words": words and {name: part(*each) for name, each in words.items()}}

    @staticmethod
    def said(push):
        """What the HTTP interface says about a push."""
        verdict, words = push["verdict"], push.get("presentation")
        return {"status": push["status"], "reason": push.get("reason"), "kind": verdict["kind"], "text": verdict["text"], "by": verdict.get("replaced-by"),
                "on_screen": verdict["kind"] == "shown" or verdict.get("on-screen", False), "until": verdict.get("until"),
                "uncertain": verdict.get("uncertain", False),
                "words": words and {name: part(each["text"], each.get("cause")) for name, each in words.items()}}

    def expected_device(self, name):
        phone = self.apple.phones[name]
        activity = phone.activity
        return {
            "online": phone.is_online, "stored": {slot: push.number for slot, push in phone.stored.items()},
            "shown": [push.number for push in phone.shown][-100:], "topics": phone.topics and sorted(phone.topics), "unregistered": phone.unregistered,
            "environment": "production" if phone.is_elsewhere else "development", "started": phone.started,
            "channels": sorted(channel for channel, each in self.apple.channels.items() if name in each["subscribers"]),
            "activity": activity and (activity.timestamp, activity.has_ended, activity.push.number, phone.pushes, phone.ignored, activity.content)}

    @staticmethod
    def said_of_device(device):
        activity = device.get("activity")
        names = ["timestamp", "ended", "push", "pushes", "ignored", "content-state"]
        return {
            "online": device["online"], "stored": device["stored"], "shown": device["shown"], "topics": device.get("topics"),
            "unregistered": device.get("unregistered-at"), "environment": device["environment"],
            "started": [each["started-by"] for each in device.get("started-activities", [])], "channels": device.get("channels", []),
            "activity": activity and tuple(activity[name] for name in names)}

    def check_interface(self, world, pushes):
        numbers = range(1, len(world.pushes) + 1)
        self.assertEqual(sorted(pushes), list(numbers))
        self.assertEqual({number: push.get("apns-id") or push["apns-request-id"] for number, push in pushes.items()},
                         {push.number: push.id for push in world.pushes})
        self.verdicts = {number: self.expected(number) for number in numbers}
        self.expect_equal({number: self.said(push) for number, push in pushes.items()}, self.verdicts, "list")
        self.expect_equal({number: answer or (0, None) for number, answer in world.answers.items()},
                          {number: (each["status"], each["reason"]) for number, each in self.verdicts.items()}, "answers")
        self.expect_equal({number: self.get(f"/api/v1/pushes/{number}") for number in numbers}, pushes, "each push")
        self.expect_equal(self.exported(), pushes, "export")
        # An error in a push makes the good tone of its verdict that of a warning.
        self.wrong = {number for number, push in pushes.items()
                      if any(each["severity"] == "error" and each["rule"] != "connection-per-push" for each in push["findings"])}
        self.found = {kind: self.get(f"/api/v1/pushes/numbers?query=verdict:{kind}")["numbers"] for kind in LABELS}
        expected = {kind: [number for number in reversed(numbers) if self.verdicts[number]["kind"] == kind] for kind in LABELS}
        self.expect_equal(self.found, expected, "queries")
        self.assertTrue(all(len(found) >= OPENED_OF_KIND for found in expected.values()), "the world lacks a kind of verdict")

    def check_devices(self):
        devices = {each["token"]: each for each in self.get("/api/v1/devices?details=true")["devices"]}
        self.expect_equal({name: self.said_of_device(device) for name, device in devices.items() if name in self.apple.phones},
                          {name: self.expected_device(name) for name in self.apple.phones if name in devices or self.pushes_to(name)}, "devices")
        for name, phone in self.apple.phones.items():
            if phone.use == "device":
                found = [push["number"] for push in self.get(f"/api/v1/devices/{name}/notifications?limit=1000")["pushes"]]
                self.expect_equal({name: found}, {name: sorted((push.number for push in phone.shown), reverse=True)}, "notifications")
            if phone.activity:
                self.check_activity(name)

    def check_activity(self, name):
        """Compares the verdicts on the pushes of one activity, of which broadcasts have one at each activity."""
        said = {push["number"]: push["verdict"] and push["verdict"]["text"] for push in self.get(f"/api/v1/activities/{name}")["pushes"]}
        verdicts = {number: self.apple.verdict(number, name if self.apple.pushes[number].is_broadcast else None) for number in said}
        self.expect_equal(said, {number: each and each.text for number, each in verdicts.items()}, f"activity {name}")

    # The page.

    ROWS = """async list => {
      const found = {}
      const text = (row, selector) => row.querySelector(selector)?.textContent ?? null
      for (let top = 0; top < list.scrollHeight; top += list.clientHeight) {
        list.scrollTop = top
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
        for (const row of list.querySelectorAll(".row")) {
          const outcome = row.querySelector(".outcome")
          found[row.dataset.number] = { result: text(row, ".result"), outcome: outcome && [outcome.textContent, outcome.title, outcome.dataset.tone],
            excerpt: text(row, ".excerpt"), label: row.getAttribute("aria-label") }
        }
      }
      return found
    }"""

    def check_rows(self):
        """Compares what each row of the list says: the answer, the verdict, and the reason when the push is not shown."""
        expect(self.page.locator("#tools .shown")).to_have_text(f"{len(self.verdicts):,} pushes")
        rows = {int(number): row for number, row in self.evaluated(self.page.locator("#list"), self.ROWS).items()}
        self.assertEqual(rows.keys(), self.verdicts.keys())
        expected, found = {}, {}
        for number, each in self.verdicts.items():
            kind, text, row = each["kind"], each["text"], rows[number]
            label, tone = LABELS[kind]
            words = f"refused {each['reason']}" if kind == "refused" else label.lower()
            expected[number] = {
                "result": {200: None, 0: "No answer"}.get(each["status"], f"{each['status']} {each['reason']}"),
                "outcome": None if kind in QUIET else [label, self.local(number, text), tone], "label": words}
            found[number] = {"result": row["result"], "outcome": row["outcome"], "label": words if f", {words}" in row["label"] else row["label"]}
            if kind in EXPLAINED:
                reason = re.sub("^(Not shown|Discarded|Stored): ", "", self.local(number, text))
                expected[number]["excerpt"], found[number]["excerpt"] = reason[0].upper() + reason[1:], row["excerpt"]
        self.expect_equal(found, expected, "rows")

    def check_search(self):
        for kind in LABELS:
            self.page.locator("#search").fill(f"verdict:{kind}")
            expect(self.page.locator("#tools .shown")).to_have_text(re.compile(f"^{len(self.found[kind])} of "))

    PUSH = """detail => {
      const facts = (list) => Object.fromEntries([...list?.querySelectorAll("dt") ?? []].map((name) => [name.textContent, name.nextElementSibling.textContent]))
      const verdict = detail.querySelector(".detail-top .verdict")
      const note = detail.querySelector(".previews > .verdict")
      return { text: verdict.textContent, kind: verdict.dataset.verdict, tone: verdict.dataset.tone, answer: detail.querySelector(".title-bar .chip").textContent,
        words: facts(detail.querySelector(".preview-facts")), note: note && [note.textContent, note.dataset.tone], panel: detail.querySelector("[role=tabpanel]").textContent }
    }"""

    def sample(self):
        """Seeded numbers of pushes, with some of each kind of verdict, and of each kind of push."""
        generator, chosen = random.Random(SEED), set()
        groups = {}
        for number, each in self.verdicts.items():
            push = self.apple.pushes[number]
            groups.setdefault(each["kind"], []).append(number)
            groups.setdefault(("broadcast" if push.is_broadcast else push.type, each["kind"] == "refused"), []).append(number)
        for group in groups.values():
            chosen.update(generator.sample(group, min(OPENED_OF_KIND, len(group))))
        rest = [number for number in self.verdicts if number not in chosen]
        return sorted(chosen | set(generator.sample(rest, max(0, OPENED - len(chosen)))))

    @staticmethod
    def hidden(push, verdict):
        """What the page says in place of a preview; None for a push that it draws."""
        if not isinstance(push.payload, dict):
            return "No preview: the payload is not JSON."
        if push.is_activity or push.type in ("widgets", "controls") or push.type == "alert" and "alert" in push.aps:
            return None
        if verdict["kind"] == "refused":
            return f"No preview: the push was refused ({verdict['reason']}), and the app does not receive it."
        if verdict["kind"] == "unanswered":
            return "No preview: the push was not answered."
        words = presentation(push) or {}
        effects = [text for text, cause in (words[name] for name in ("sound", "badge") if name in words) if cause is None]
        reason = f"the push has no text, only {' and '.join(effects)}" if effects else "only the app receives this push"
        return f"No preview: {reason}." + ("" if verdict["kind"] == "delivered" else f" {verdict['text']}.")

    def check_opened(self):
        """Opens pushes, and compares the verdict, the reason, and the level, sound and badge beside the preview."""
        expected, found, detail = {}, {}, self.page.locator("#detail")
        for number in self.sample():
            push, each = self.apple.pushes[number], self.verdicts[number]
            self.page.evaluate(f"location.hash = '#/push/{number}'")
            expect(detail.locator(".detail-facts")).to_contain_text(push.id)
            expect(detail.locator(f".previews[data-number='{number}'][aria-busy=false], [role=tabpanel] > p")).to_be_visible()
            said = self.evaluated(detail, self.PUSH)
            words = {NAMES[name]: text.replace(text.split()[0], LEVELS[text.split()[0]], 1) if name == "level" else text for name, text in (each["words"] or {}).items()}
            tone = LABELS[each["kind"]][1]
            if each["uncertain"] or tone == "good" and number in self.wrong:
                tone = "warning"
            expected[number] = {"text": self.local(number, each["text"]), "kind": each["kind"], "tone": tone, "answer": {200: "200", 0: "no answer"}.get(
                each["status"], f"{each['status']} {each['reason']}")}
            found[number] = {name: said[name] for name in expected[number]}
            # Only a push with a preview has facts beside it.
            if said["words"]:
                expected[number]["words"] = words
                found[number]["words"] = {name: said["words"].get(name) for name in words}
            is_reload = push.type in ("widgets", "controls") and each["kind"] == "delivered"
            hidden = self.hidden(push, each)
            if hidden:
                hidden = self.local(number, hidden)
                expected[number]["panel"], found[number]["panel"] = hidden, said["panel"]
            # A note beside a preview says that the phone does not show it.
            expected[number]["is noted"] = not hidden and not each["on_screen"] and not is_reload
            found[number]["is noted"] = said["note"] is not None
        self.expect_equal(found, expected, "opened pushes")

    TABLE = """table => Object.fromEntries([...table.querySelectorAll("tbody tr")].map((row) => [row.dataset.key,
      Object.fromEntries([...row.querySelectorAll("[data-label]")].map((cell) => [cell.dataset.label, cell.innerText]))]))"""

    def check_lists(self):
        """Compares the lists of activities and devices with the model."""
        self.page.goto(f"{self.simulator.url}/#/activities")
        found = self.evaluated(self.page.get_by_role("table", name="Activities"), self.TABLE)
        columns = ("State", "Shows", "Pushes", "Not shown")
        self.expect_equal({name: [found[name][column].strip().split("\n")[-1] for column in columns] for name in found},
                          {name: self.row_of_activity(name, phone) for name, phone in self.apple.phones.items() if phone.activity}, "list of activities")
        self.page.goto(f"{self.simulator.url}/#/devices")
        found = self.evaluated(self.page.get_by_role("table", name="Devices"), self.TABLE)
        columns = ("State", "Pushes")
        self.expect_equal({name: [found[name][column].strip() for column in columns] + [re.findall(r"\+(\d+)$|^(Nothing)$", found[name]["On screen"].strip())]
                           for name in found if name in self.apple.phones},
                          {name: self.row_of_device(name, phone) for name, phone in self.apple.phones.items()
                           if not phone.activity and (name in found or self.pushes_to(name))}, "list of devices")

    def pushes_to(self, name):
        return [number for number, push in self.apple.pushes.items() if push.target == name or name in self.apple.fates[number]
                or self.apple.started.get(number) == name]

    def row_of_activity(self, name, phone):
        """The state, what is on the screen, and the numbers of pushes."""
        activity = phone.activity
        aps, is_removed = activity.push.aps, False
        if activity.has_ended:
            is_removed = aps.get("dismissal-date") == 0
            state = "removed" if is_removed else "ended"
        else:
            state = "stale" if aps.get("stale-date", time.time()) < time.time() - 1 else "active"
        content = "Nothing: it was removed" if is_removed else activity.content["status"]
        return [state, content, str(len(self.pushes_to(name))), str(phone.ignored)]

    def row_of_device(self, name, phone):
        """The state, the number of pushes, and how many notifications are on the screen besides the newest."""
        state = "unregistered" if phone.unregistered is not None or name.endswith("00dead") else "online" if phone.is_online else "offline"
        state = {"000429": "answers TooManyRequests", "000503": "answers ServiceUnavailable", "00e5e7": "reset-stream over HTTP/2"}.get(name[-6:], state)
        count = len(phone.shown[-100:])
        return [state, str(len(self.pushes_to(name))), [("", "Nothing")] if count == 0 else [(str(count - 1), "")] if count > 1 else []]

    STEPS = """list => Object.fromEntries([...list.children].map((item) => [item.dataset.key.split(" ")[1], item.querySelector(".outcome").textContent]))"""

    def check_timelines(self):
        """Compares the timelines of the activities that listen to channels, where each broadcast has a verdict of its own."""
        names = [name for name in self.apple.phones if any(name in channel["subscribers"] for channel in self.apple.channels.values())]
        for name in names[:TIMELINES] + names[-2:]:
            self.page.goto(f"{self.simulator.url}/#/activities/{name}")
            shown = self.page.get_by_role("list", name="All pushes")
            expect(shown.locator("li").first).to_be_visible()
            expect(self.page.locator(".state-bar")).to_contain_text(name[-8:])
            found = {int(number): text for number, text in self.evaluated(shown, self.STEPS).items()}
            verdicts = {number: self.apple.verdict(number, name if self.apple.pushes[number].is_broadcast else None) for number in found}
            self.expect_equal(found, {number: each and self.local(number, each.text) for number, each in verdicts.items()}, f"timeline of {name}")
            self.assertGreaterEqual(found.keys(), set(self.pushes_to(name)))

    def check_archive(self, file, pushes):
        """Compares what a simulator reads that is started with the data file."""
        self.page.goto("about:blank")
        self.simulator.process.send_signal(signal.SIGTERM)
        self.simulator.process.wait()
        self.simulator.stop()
        self.simulator = Simulator(None, "--quiet", "--seed", str(SEED), "--data", file, keep=2 * COUNT)
        self.expect_equal(self.everything(), pushes, "archive")

    def test_all_sources_agree_with_the_model(self):
        self.simulator.stop()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        file = str(Path(directory.name) / "pushes.sqlite")
        self.simulator = Simulator(None, "--quiet", "--seed", str(SEED), "--data", file, keep=2 * COUNT)
        world = World(self.simulator, self.wait_until)
        world.run()
        pushes = self.everything()
        started = {each["started-by"]: each["id"] for device in self.get("/api/v1/devices?details=true")["devices"]
                   for each in device.get("started-activities", [])}
        self.apple = world.model({number: push["time-ms"] for number, push in pushes.items()}, started)
        self.check_interface(world, pushes)
        self.check_devices()
        self.page.set_viewport_size({"width": 1400, "height": 2_400})
        self.open()
        self.check_rows()
        self.check_opened()
        self.check_search()
        self.check_lists()
        self.check_timelines()
        self.check_archive(file, pushes)
        self.assertEqual(len(self.differences), 0, "\n" + "\n".join(self.differences))


if __name__ == "__main__":
    unittest.main()
