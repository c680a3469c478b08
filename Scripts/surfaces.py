# SPDX-License-Identifier: Apache-2.0

"""Surfaces of a back end, simulated phones, and a comparison of what phones show with what they shall show."""

import collections
import dataclasses
import http.client
import json
import pathlib
import subprocess
import sys
import time

from relays import KEY, NAME, PATIENCE, ask_until_acknowledged

APP = "orders"
ACTIVITY = "liveActivity"


@dataclasses.dataclass
class Owner:
    """The owner of a phone."""
    user: str
    tags: list[str] = dataclasses.field(default_factory=list)
    allows_activities: bool = True
    system_version: str = "26.1"
    is_online: bool = True
    # The surfaces whose card the owner has removed.
    removed: set[str] = dataclasses.field(default_factory=set)

    def condition(self):
        return ("offline" if not self.is_online else "Live Activities off" if not self.allows_activities
                else "card removed" if self.removed else "")


class Phones:
    """The program with simulated phones, whose apps report to relays, and with a simulator in place of Apple."""

    def __init__(self, martlet, stops):
        program = pathlib.Path(martlet).parent / "MartletPhones"
        if not program.exists():
            sys.exit(f"{NAME}: {program} does not exist: build it with swift build --product MartletPhones, "
                     "or run make surfaces-demo")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stops.append(self.process.kill)
        self.port, self.owners = self.read()["port"], []

    def ask(self, command, **values):
        self.process.stdin.write(json.dumps({"do": command, **values}) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{NAME}: the phones have ended with status {self.process.wait()}")
        return json.loads(line)

    def enroll(self, owners, relays):
        """Lets the apps of new phones enroll, and waits until the relays know all that they report."""
        self.owners += owners
        self.ask("enroll", key=KEY, relays=[relay.port for relay in relays], owners=[
            {"user": owner.user, "tags": owner.tags, "live-activities": owner.allows_activities,
             "system-version": owner.system_version} for owner in owners])
        wait_until_none("phones that have not enrolled", lambda: [
            phone["user"] for phone in self.show() if not phone["settled"]])

    def set_online(self, is_online, indices):
        self.ask("handle", event="online" if is_online else "offline", phones=indices)
        for index in indices:
            self.owners[index].is_online = is_online

    def remove_card(self, surface, index):
        """Removes the only card of a phone, as its owner does."""
        self.ask("handle", event="swipe", phones=[index])
        self.ask("expect", surface=surface.id, content=None, phones=[index])
        self.owners[index].removed.add(surface.id)

    def show(self):
        return self.ask("show")["phones"]


class Surface:
    """A surface, which a back end stores at the first relay that acknowledges it."""

    def __init__(self, id, to, phones, includes, channel=None):
        self.id, self.to, self.phones, self.channel = id, to, phones, channel
        # The indices of the phones of its audience.
        self.audience = [index for index, owner in enumerate(phones.owners) if includes(owner)]
        self.number, self.title = 0, None

    def put(self, title, relays):
        """Stores the next state; the phones shall show it from the answer on."""
        self.number, self.title = self.number + 1, title
        content = {"headline": title, "subhead": "Two stops before you", "progress": 0.5, "stage": "inProgress"}
        channel = {"channel": self.channel} if self.channel else {}
        body = {"to": self.to, "snapshots": [snapshot(self.id, self.number, content)], **channel}
        self.ask(relays, "PUT", json.dumps(body))
        self.expect(content)

    def withdraw(self, relays):
        self.title = None
        self.ask(relays, "DELETE")
        self.expect(None)

    def expect(self, content):
        self.phones.ask("expect", surface=self.id, content=content, phones=[
            index for index in self.audience if self.id not in self.phones.owners[index].removed])

    def ask(self, relays, method, body=None):
        ask_until_acknowledged(relays, method, f"/v1/apps/{APP}/surfaces/{self.id}", body)

    def accounts(self, relay):
        """Returns what the relay assumes of the kinds of the surface on the phone of each user."""
        accounts, cursor = {}, 0
        while True:
            [(status, page)] = relay.answers([f"/v1/apps/{APP}/surfaces/{self.id}/installations?limit=200&after={cursor}"])
            if status != 200:
                raise ConnectionError(f"the relay answers {status}")
            if not page["installations"]:
                return accounts
            accounts |= {each["user"]: each["kinds"] for each in page["installations"]}
            cursor = page["cursor"]


def snapshot(surface, number, content):
    """Returns the snapshot of a Live Activity for a content-state."""
    return {
        "schemaVersion": "5", "id": f"{surface}@{number}", "surfaceId": surface, "kind": ACTIVITY,
        "updatedAt": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "state": "active",
        ACTIVITY: {
            "title": content["headline"], "body": content["subhead"], "progress": content["progress"],
            "deepLink": f"shop://orders/{surface}", "modeLabel": "Delivery", "stage": content["stage"]}}


def create_channel(relay):
    """Creates a channel that stores the last broadcast, and returns the member of surfaces on it."""
    status, text = relay.ask("POST", f"/v1/apps/{APP}/channels", json.dumps({"message-storage-policy": 1}))
    if status != 201:
        raise SystemExit(f"{NAME}: the relay answers {status} to the request for a channel: {text}")
    return {"id": json.loads(text)["channel"], "message-storage-policy": 1}


def wait_until_none(name, find):
    """Waits until a function finds nothing any more; otherwise exits with what it has found last."""
    end, found = time.monotonic() + PATIENCE, ["no relay answered"]
    while time.monotonic() < end:
        try:
            found = [*find()]
            if not found:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.2)
    sys.exit("\n".join([f"{NAME}: failed: after {PATIENCE} s there are {len(found)} {name}:", *found[:20]]))


def differences(phones, surfaces, relay):
    """Yields the differences between what the phones that can be reached show, what the relay assumes, and the desired state."""
    accounts = {surface.id: surface.accounts(relay) for surface in surfaces}
    desired = collections.defaultdict(dict)
    for surface in surfaces:
        for index in surface.audience:
            desired[index][surface.id] = surface.title
    for index, (owner, phone) in enumerate(zip(phones.owners, phones.show())):
        if not owner.is_online:
            continue
        if not phone["settled"]:
            yield f"{owner.user} has reports that no relay has confirmed"
        titles = {id: title for id, title in desired[index].items() if title is not None}
        cards = {id: title for id, title in titles.items() if owner.allows_activities and id not in owner.removed}
        if sorted(titles_of_cards(phone)) != sorted(cards.items()):
            yield f"{owner.user} shows {titles_of_cards(phone)}, and shall show {sorted(cards.items())}"
        for id, title in titles.items():
            if not owner.allows_activities and title not in phone["notifications"]:
                yield f"{owner.user} has no notification in place of {id}: {title}"
            account = accounts[id].get(owner.user, {}).get(ACTIVITY, {})
            reason = ("live-activities-not-allowed" if not owner.allows_activities
                      else "removed-by-user" if id in owner.removed else None)
            if account.get("state") != ("absent" if reason else "current") or account.get("reason") != reason:
                yield f"{owner.user} has the account {account} of {id}, and shall have the reason {reason}"
        for id in desired[index].keys() - titles.keys():
            if owner.user in accounts[id]:
                yield f"{owner.user} has the account {accounts[id][owner.user]} of {id}, which is withdrawn"


def titles_of_cards(phone):
    return [(card["surface"], card["content-state"]["headline"]) for card in phone["cards"]]


def print_sums(phones):
    """Prints the sums of the accounts of all phones."""
    accounts = [phone["account"] for phone in phones.show()]
    for name, label in [("pushes", "pushes"), ("effective", "had an effect"), ("wasted", "were dropped by the phone"),
                        ("lost", "were replaced or expired while the phone was offline"),
                        ("to-invalid-tokens", "went to tokens that had ended"), ("refused", "were refused"),
                        ("cards-started", "cards started"), ("duplicates", "second cards that stayed"),
                        ("stranded-cards", "cards of withdrawn surfaces")]:
        print(f"{sum(account[name] for account in accounts):>10}  {label}")
    for name, label in [
            ("longest-reachable-staleness", "longest time in which a phone that could be reached showed an earlier state"),
            ("longest-stranding", "longest time in which a phone showed a withdrawn surface")]:
        print(f"{max(account[name] for account in accounts):>9.1f}s  {label}")
