# SPDX-License-Identifier: Apache-2.0

"""Phones of people, jobs that send to many of them, and a comparison of the relay's account with what has arrived."""

import collections
import csv
import dataclasses
import hashlib
import http.client
import json
import subprocess
import uuid

from relays import NAME, ask_until_acknowledged

APP = "orders"
# The simulator answers pushes to a token with this end with 410 Unregistered.
UNREGISTERED = "00dead"


@dataclasses.dataclass
class Phone:
    """An installation of the imported table."""
    id: str
    user: str
    token: str
    tags: str
    locale: str
    time_zone: str
    alerts: str


def make_phones(count, random):
    """Returns phones: two thirds with the tag vip, some without permission for alerts, some whose app was deleted."""
    phones = []
    for number in range(count):
        end = UNREGISTERED if random.random() < 0.03 else f"{random.getrandbits(16):04x}c0"
        phones.append(Phone(
            str(uuid.UUID(int=random.getrandbits(128), version=4)), f"user-{number}", f"{random.getrandbits(232):058x}{end}",
            random.choice(["vip", "vip new", "new"]), random.choice(["de-CH", "en-US", "fr-FR"]),
            random.choice(["Asia/Tokyo", "Atlantic/Reykjavik"]), "false" if random.random() < 0.05 else "true"))
    return phones


def import_phones(martlet, relay, file, phones):
    """Writes the table of the phones, and imports it; returns what the command prints."""
    with file.open("w", newline="") as table:
        writer = csv.DictWriter(table, [field.name for field in dataclasses.fields(Phone)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(phone) for phone in phones)
    return subprocess.run(
        [martlet, "relay", "import", file, "--app", APP, "--url", f"http://127.0.0.1:{relay.port}", "--key-file",
         file.parent / "caller.key"], check=True, capture_output=True, text=True).stdout.strip()


class Job:
    """A push to all phones that match, which a relay sends to as a job."""

    def __init__(self, name, to, payload, audience, **members):
        self.name, self.audience = name, audience
        self.body = {"app": APP, "to": to, "payload": payload, **members}
        self.id = None

    def create(self, relays):
        """Creates the job at the first relay that acknowledges it."""
        body = json.dumps(self.body)
        text = ask_until_acknowledged(relays, "POST", "/v1/pushes", body, **{"idempotency-key": self.name})
        self.id = json.loads(text)["id"]

    def progress(self, relays):
        """Returns the job as the first relay shows it that answers; nil when none does."""
        for relay in relays:
            try:
                status, text = relay.ask("GET", f"/v1/apps/{APP}/jobs/{self.id}")
            except (OSError, http.client.HTTPException):
                continue
            if status == 200:
                return json.loads(text)
        return None

    def alert(self, phone):
        """Returns the alert of the push to a phone."""
        language = phone.locale.split("-")[0]
        return self.body.get("locales", {}).get(language, self.body["payload"])["aps"]["alert"]

    def push_id(self, phone):
        """Returns the apns-id of the push to a phone, which the relay derives from the job and the installation."""
        hashed = bytearray(hashlib.sha256(f"{APP}\njob\n{self.id}\n{phone.id}".encode()).digest()[:16])
        hashed[6] = hashed[6] & 0x0F | 0x80
        hashed[8] = hashed[8] & 0x3F | 0x80
        return str(uuid.UUID(bytes=bytes(hashed)))


class Reconciliation:
    """The outcome of each phone of the jobs in the relay and in the simulator's inbox, and the differences."""

    def __init__(self, relay, simulator, jobs):
        self.counts = collections.Counter()
        self.violations = []
        self.arrivals = collections.defaultdict(list)
        for push in simulator.pushes():
            self.arrivals[push["apns-id"].lower()].append(push)
        for job in jobs:
            self.compare(relay, job)
        if self.arrivals:
            self.violations.append(f"{len(self.arrivals)} pushes arrived that belong to no phone of a job")

    def compare(self, relay, job):
        shown, states, without = job.progress([relay]), collections.Counter(), 0
        ids = [job.push_id(phone) for phone in job.audience]
        answers = relay.answers(f"/v1/pushes/{id}" for id in ids)
        for phone, id, (status, push) in zip(job.audience, ids, answers):
            arrived = self.arrivals.pop(id, [])
            if status == 404:
                without += 1
                state = "left out"
            else:
                state = push["state"]
                states[state] += 1
            self.check(f"{job.name} to {phone.user}", phone, state, push, arrived)
            if any(each["payload"]["aps"]["alert"] != job.alert(phone) for each in arrived):
                self.violations.append(f"{job.name} to {phone.user} is not in the language of {phone.locale}")
        left_out = sum(shown["left-out"].values())
        expected = {"state": "expanded", "matched": len(job.audience), "stored": sum(states.values()), "waiting": 0,
                    "outcomes": dict(states)}
        if {name: shown[name] for name in expected} != expected or left_out != without or "ended-at" not in shown:
            self.violations.append(f"{job.name}: {shown}, but its phones have {dict(states)}, and {without} have none")
        self.counts["phones of all audiences"] += len(job.audience)
        self.counts["left out, as the job counts them"] += left_out

    def check(self, name, phone, state, push, arrived):
        """Compares one outcome with the arrivals."""
        accepted = sum(each["status"] == 200 for each in arrived)
        is_right = {
            "left out": not arrived, "delivered": accepted >= 1, "refused": bool(arrived) and accepted == 0,
            # Another push was refused first, so that the user has no phone with the token any more.
            "cancelled": phone.token.endswith(UNREGISTERED) and push.get("apns") == {"reason": "FormerUser"},
        }.get(state, False)
        if not is_right:
            self.violations.append(f"{name} is {state}, and arrived {len(arrived)} times, accepted {accepted} times: {push}")
        if any(each["device-token"] != phone.token for each in arrived):
            self.violations.append(f"{name} arrived at another token")
        self.counts[state] += 1
        self.counts["arrived"] += accepted > 0
        if accepted > 1:
            is_reported = push.get("unknown-tries", 0) > 0
            self.counts["arrived more than once, reported" if is_reported else "arrived more than once, not reported"] += 1
            if not is_reported:
                self.violations.append(f"{name} arrived {accepted} times, and the relay does not report it: {push}, {arrived}")

    def finish(self):
        """Prints the counts, and exits 1 if there are differences."""
        for name in ("phones of all audiences", "delivered", "refused", "cancelled", "left out", "left out, as the job counts them",
                     "arrived", "arrived more than once, reported", "arrived more than once, not reported"):
            print(f"{self.counts[name]:>10}  {name}")
        print(f"{len(self.violations):>10}  differences")
        for violation in self.violations[:20]:
            print(violation)
        if self.violations:
            raise SystemExit(f"{NAME}: failed: the relay's account differs from what has arrived")
