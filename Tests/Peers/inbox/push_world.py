# SPDX-License-Identifier: Apache-2.0

"""A world of 1 000 seeded pushes: a client of APNs sends them to a simulator, between which its devices change."""

import json
import random
import socket
import subprocess
import time
import uuid

import h2.config
import h2.connection
import h2.events
from browser import MARTLET
from phone_model import EFFECTS, LIVE, SUFFIXES, Apple, Push

SEED, COUNT = 20, 1_000
# The pushes after which some that are stored expire.
EXPIRIES = (400, 960)
APP, PARCEL = "com.example.app", "com.example.parcel"
CONTENT = {"type": "object", "required": ["status", "minutes"],
           "properties": {"status": {"type": "string"}, "minutes": {"type": "integer"}}}
# The required members of that content, and what the inbox says about one of another type.
MEMBERS = {"status": (str, "is a number; it must be a string"), "minutes": (int, "is a string; it must be a whole number")}
BASE = 1_790_000_000


def token(name):
    """A device token whose end selects no answer of the simulator."""
    return name.encode().hex().rjust(30, "5") + "a1"


PHONES = [token(f"phone{number}") for number in range(6)]
# These go offline. The last three are registered, and the last one is unregistered for a while.
OFFLINE = [token(f"away{number}") for number in range(6)]
ELSEWHERE, OTHER_APP, GONE = token("elsewhere"), token("other"), token("gone")
SUFFIXED = [token("suffix")[:-6] + end for end in ("00dead", "000429", "000503", "00e5e7")]
FAULTY = ["fa11" + token(f"fault{number}")[4:] for number in range(2)]
# Those of phones to which a client does not wait for the answer.
SLOW = ["de1a" + token(f"slow{number}")[4:] for number in range(2)]
STARTS, PARCEL_STARTS = [token(f"start{number}") for number in range(2)], [token("parcels")]
AWAY_ACTIVITIES = [token(f"card{number}") for number in range(3)]
SUBSCRIBERS = [token(f"listener{number}") for number in range(4)]


class Client:
    """A client of APNs with one HTTP/2 connection."""

    def __init__(self, port):
        self.authorization = "bearer " + subprocess.run([MARTLET, "token"], capture_output=True, text=True, check=True).stdout.strip()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.http.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.http.data_to_send())

    def events(self):
        data = self.socket.recv(65_536)
        if not data:
            raise ConnectionError("the simulator has closed the connection")
        events = self.http.receive_data(data)
        self.flush()
        return events

    def send(self, path, headers, body):
        """Sends a request and returns its stream."""
        stream = self.http.get_next_available_stream_id()
        fields = {":method": "POST", ":scheme": "http", ":authority": "localhost", ":path": path, "authorization": self.authorization, **headers}
        self.http.send_headers(stream, list(fields.items()), end_stream=not body)
        while body:
            size = min(self.http.local_flow_control_window(stream), self.http.max_outbound_frame_size, len(body))
            if size:
                self.http.send_data(stream, body[:size], end_stream=size == len(body))
                body = body[size:]
                self.flush()
            else:
                self.events()
        self.flush()
        return stream

    def answer(self, stream):
        """The status and the reason in the answer; None for a stream that was reset."""
        status, body = None, b""
        while True:
            for event in self.events():
                if getattr(event, "stream_id", None) != stream:
                    continue
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    return status, json.loads(body)["reason"] if body else None
                elif isinstance(event, h2.events.StreamReset):
                    return None

    def leave(self, stream):
        self.http.reset_stream(stream)
        self.flush()

    def close(self):
        self.socket.close()


class World:
    """Sends seeded pushes to a simulator, between which devices change, and records both for the model."""

    def __init__(self, simulator, wait_until):
        self.simulator, self.wait_until, self.random = simulator, wait_until, random.Random(SEED)
        self.client = Client(int(simulator.apns.rsplit(":", 1)[1]))
        self.script, self.pushes, self.answers, self.offline = [], [], {}, set()
        self.activities = {APP: [], PARCEL: []}
        self.times, self.new_cards, self.faults = {}, 0, 0

    # What happens besides pushes.

    def device(self, name, **state):
        self.simulator.ask("PUT", f"/api/v1/devices/{name}", state)

    def record(self, action, *values):
        self.script.append((action, values))

    def register(self, name, topics, **more):
        self.device(name, topics=topics, **more)
        self.record("register", name, topics, "environment" in more)

    def set_online(self, name, is_online):
        self.device(name, online=is_online)
        (self.offline.discard if is_online else self.offline.add)(name)
        self.record("set_online", name, is_online, round(time.time() * 1000))

    def subscribe(self, name, channel):
        self.device(name, channels=[channel])
        self.record("subscribe", name, channel, round(time.time() * 1000))

    def set_up(self):
        ask = self.simulator.ask
        ask("PUT", "/api/v1/schemas", {"topic": PARCEL, "attributes-type": "ParcelAttributes", "content-state": CONTENT})
        ask("PUT", "/api/v1/chaos", {"seed": 1, "rules": [
            {"do": "respond", "reason": "InternalServerError", "every": 2, "match": {"device-prefix": "fa11"}},
            {"do": "delay", "seconds": 3_000, "match": {"device-prefix": "de1a"}}]})
        for name in OFFLINE[3:]:
            self.register(name, [APP, APP + LIVE])
        self.register(ELSEWHERE, [APP], environment="production")
        self.register(OTHER_APP, ["com.example.other"])
        self.device(GONE, **{"unregistered-at": BASE * 1000})
        self.record("unregister", GONE, BASE * 1000)
        for name in STARTS + PARCEL_STARTS:
            self.record("phone", name, "start")
        for name in AWAY_ACTIVITIES + SUBSCRIBERS:
            self.record("phone", name, "activity")
        # The token of an activity can be registered, too.
        self.register(AWAY_ACTIVITIES[0], [APP + LIVE])
        self.channels = [ask("POST", "/api/v1/channels", {"app": APP, "message-storage-policy": policy})["channel"] for policy in (0, 1, 1)]
        for channel, policy in zip(self.channels, (0, 1, 1)):
            self.record("add_channel", channel, APP, policy)
        for name, channel in zip(SUBSCRIBERS[:3], (0, 1, 1)):
            self.subscribe(name, self.channels[channel])
        # The first push to a token shows what the token is for.
        for name in PHONES + OFFLINE:
            self.alert(name)
        for app, names in ((APP, STARTS), (PARCEL, PARCEL_STARTS)):
            for name in names:
                self.start(app, name)

    def run(self):
        self.set_up()
        choices = [(self.some_alert, 34), (self.other_push, 12), (self.some_activity, 22), (self.some_start, 4), (self.broadcast, 8), (self.mistake, 7),
                   (self.faulty, 5), (self.left, 1), (self.toggle, 7)]
        for number in EXPIRIES + (COUNT,):
            while len(self.pushes) < number:
                choice, = self.random.choices([action for action, _ in choices], [weight for _, weight in choices])
                choice()
            if number != COUNT:
                self.let_expire()
        self.finish()
        self.client.close()

    def finish(self):
        """Leaves a broadcast that APNs stores for a phone, and one that an activity receives when it subscribes."""
        now, names = int(time.time()), [token("last1"), token("last2")]
        for name in names:
            self.record("phone", name, "activity")
        self.subscribe(names[0], self.channels[1])
        self.set_online(names[0], False)
        for channel in self.channels[1:]:
            self.send((APP, channel), {"aps": self.live("last", "update", timestamp=BASE + 100_000)}, apns_push_type="liveactivity", apns_priority=5,
                      apns_expiration=now + 86_400)
        self.subscribe(names[1], self.channels[2])

    def send(self, target, payload, lost=None, **headers):
        """Sends a push, and waits for its answer unless the client does not."""
        number = len(self.pushes) + 1
        is_broadcast = not isinstance(target, str)
        identifier = str(uuid.UUID(int=self.random.getrandbits(128)))
        path = f"/4/broadcasts/apps/{target[0]}" if is_broadcast else f"/3/device/{target}"
        fields = {"apns-request-id": identifier, "apns-channel-id": target[1]} if is_broadcast else {"apns-id": identifier}
        headers = {name.replace("_", "-"): str(value) for name, value in headers.items() if value is not None}
        body = b"" if payload is None else json.dumps(payload, separators=(",", ":")).encode()
        push = Push(number, target, headers, payload, len(body), lost=lost)
        if not is_broadcast and target.startswith("fa11"):
            self.faults += 1
            if self.faults % 2:
                push.reason, push.fault = "InternalServerError", "respond"
        stream = self.client.send(path, {**fields, **headers}, body)
        if lost:
            status = lambda: self.simulator.ask("GET", f"/api/v1/pushes?query=number:{number}")["pushes"]
            self.wait_until(status, "the push has not arrived")
            self.client.leave(stream)
            self.wait_until(lambda: status()[0]["status"] == 0, "the client is still expected to read the answer")
            self.answers[number] = None
        else:
            self.answers[number] = self.client.answer(stream)
        push.id = identifier
        self.pushes.append(push)
        self.record("push", push)
        return number

    # The kinds of pushes.

    def pick(self, *values):
        return self.random.choice(values)

    def expiration(self):
        now = int(time.time())
        return self.pick(None, None, 0, now - 10, now + 3_600, now + 40 * 86_400)

    def aps(self):
        """The members of `aps` of a random alert."""
        pick = self.pick
        members = {
            "alert": pick("A text", {"title": "A title", "body": "A text"}, {"title-loc-key": "READY"}, {"body": "A text"}, {"title": ""}, "", None),
            "sound": pick(None, None, "default", "bell.caf", "", {"name": "bell.caf"}, {"critical": 1, "name": "siren.caf", "volume": 0.5},
                          {"critical": 1, "volume": 1}, {"name": ""}, {"name": "default", "volume": 0}),
            "badge": pick(None, None, 0, 3, 12, -1, "3", 1.5),
            "interruption-level": pick(None, None, "passive", "active", "time-sensitive", "critical", "timeSensitive"),
            "thread-id": pick(None, None, "order-17"), "mutable-content": pick(None, 1), "content-available": pick(None, None, None, 1),
        }
        # The documentation does not say what a passive alert with a critical sound does.
        if members["interruption-level"] == "passive" and isinstance(members["sound"], dict):
            members["sound"] = "default"
        return {name: value for name, value in members.items() if value is not None}

    def alert(self, target, **more):
        payload = {"aps": {"alert": {"title": f"Order {len(self.pushes) + 1}"}, "sound": "default"}}
        return self.send(target, payload, **{"apns_topic": APP, "apns_push_type": "alert", **more})

    def some_alert(self):
        payload = self.pick({}, *[{"aps": self.aps()} for _ in range(12)])
        self.send(self.pick(*PHONES, *OFFLINE), payload, apns_topic=APP, apns_push_type=self.pick("alert", "alert", None),
                  apns_collapse_id=self.pick(None, "order-1", "order-2"), apns_expiration=self.expiration())

    def other_push(self):
        kind = self.pick("background", "background", "widgets", "controls", *EFFECTS)
        aps = {"background": [{"content-available": 1}, {}, {"content-available": True}],
               "widgets": [{"content-changed": True}, {}, {"content-changed": 1}], "controls": [{"content-changed": True}, {}]}.get(kind, [{}])
        # A registered device is registered for notifications alone.
        target = self.pick(*PHONES, *(OFFLINE if kind == "background" else OFFLINE[:3]))
        self.send(target, {"aps": self.pick(*aps)}, apns_topic=APP + SUFFIXES[kind], apns_push_type=kind, apns_priority=5,
                  apns_expiration=self.expiration())

    def live(self, name, event, **more):
        """The members of `aps` of a push to an activity; now and then with a timestamp that is not newer."""
        newest, number = self.times.get(name, 0), len(self.pushes) + 1
        timestamp = self.pick(*[BASE + 10 * number] * 8, newest or BASE, (newest or BASE) - 5)
        self.times[name] = max(newest, timestamp)
        return {"timestamp": timestamp, "event": event, "content-state": {"status": f"Step {number}", "minutes": number % 60}, **more}

    def send_live(self, target, aps, app=APP, **headers):
        return self.send(target, {"aps": aps}, apns_topic=app + LIVE, apns_push_type="liveactivity", **headers)

    def some_activity(self):
        app = self.pick(APP, APP, PARCEL)
        cards = self.activities[app]
        if len(cards) < 3 or self.random.random() < 0.04:
            self.new_cards += 1
            cards.append(token(f"own{self.new_cards}"))
            self.record("phone", cards[-1], "activity")
        name = self.pick(*cards[-4:], *(AWAY_ACTIVITIES if app == APP else []))
        aps = self.live(name, self.pick(*["update"] * 11, "end"))
        if aps["event"] == "end":
            aps.update(self.pick({}, {"dismissal-date": 0}, {} if name in AWAY_ACTIVITIES else {"dismissal-date": 4_000_000_000}))
        aps.update(self.pick({}, {}, {}, {"alert": {"title": "A", "body": "B"}}, {"alert": {"title": "A", "sound": "default"}}, {"stale-date": 600}))
        if name not in AWAY_ACTIVITIES:
            aps.update(self.pick({}, {}, {}, {"stale-date": 4_000_000_000}))
        if name not in AWAY_ACTIVITIES and self.random.random() < 0.12:
            # The mistakes that the phone ignores in silence, of which a contract finds the first two.
            aps = self.pick(*([{**aps, "content-state": {"status": "A", "minutes": "4"}}, {**aps, "content-state": {"minutes": 4}}] * 2 if app == PARCEL
                              else [{**aps, "content-state": {"status": "A", "minutes": "4"}}]),
                            {**aps, "timestamp": aps["timestamp"] * 1000}, {**aps, "event": "stop"},
                            {each: value for each, value in aps.items() if each != "timestamp"})
        headers = {"apns_expiration": self.expiration()} if name in AWAY_ACTIVITIES else {}
        self.send_live(name, aps, app, apns_priority=self.pick(10, 5, None), **headers)

    def some_start(self):
        app = self.pick(APP, APP, PARCEL)
        aps = self.start_members()
        self.start(app, self.pick(*(STARTS if app == APP else PARCEL_STARTS)), self.pick(
            *[aps] * 5, {**aps, "input-push-channel": self.channels[1]}, {each: value for each, value in aps.items() if each != "alert"}))

    def start_members(self):
        return self.live(f"start {len(self.pushes)}", "start", alert={"title": "Started", "body": "Now"}, **{
            "attributes-type": "ParcelAttributes", "attributes": {"name": "Order"}})

    def start(self, app, target, aps=None):
        aps = aps or self.start_members()
        number = self.send_live(target, aps, app)
        # Only the app learns the token of the new activity; the simulator says it in its place.
        for each in self.simulator.ask("GET", f"/api/v1/devices/{target}").get("started-activities", []):
            if each["started-by"] == number and "token" in each:
                self.activities[app].append(each["token"])
                self.times[each["token"]] = aps["timestamp"]

    def broadcast(self):
        index = self.pick(0, 1, 1, 2)
        now = int(time.time())
        aps = self.live(f"channel {index}", self.pick(*["update"] * 22, "end", "start"))
        if aps["event"] == "start":
            aps.update({"alert": {"title": "A"}, "attributes-type": "ParcelAttributes", "attributes": {}})
        aps.update(self.pick({}, {}, {"alert": {"title": "A", "sound": "default"}}))
        self.send((APP, self.channels[index]), {"aps": aps}, apns_push_type="liveactivity", apns_priority=10,
                  apns_expiration=self.pick(now + 3_600, now + 86_400) if index else 0)
        if self.random.random() < 0.3:
            name = token(f"late{len(self.pushes)}")
            self.record("phone", name, "activity")
            self.subscribe(name, self.channels[self.pick(1, 2)])

    def mistake(self):
        target = self.pick(*PHONES)
        aps = {"aps": {"alert": "A text"}}
        channel, live = (APP, self.channels[1]), self.live("mistake", "update")
        update = {"apns_push_type": "liveactivity", "apns_priority": 10, "apns_expiration": int(time.time()) + 60}
        self.pick(
            lambda: self.send(target, aps, apns_push_type="alert"),
            lambda: self.alert(target, apns_priority=7), lambda: self.alert(target, apns_push_type="alarm"),
            lambda: self.alert(target, apns_expiration="soon"), lambda: self.alert(target, apns_collapse_id="x" * 65),
            lambda: self.alert(target, apns_collapse_id="x" * 64), lambda: self.alert(target[1:]), lambda: self.alert("xy" + target),
            lambda: self.send(target, None, apns_topic=APP), lambda: self.send(target, {**aps, "more": "x" * 5_000}, apns_topic=APP),
            lambda: self.send(target, {"more": "x" * 5_000}, apns_topic=APP + ".voip", apns_push_type="voip"),
            lambda: self.send(target, {"aps": {"content-available": 1}}, apns_topic=APP, apns_push_type="background", apns_priority=10),
            lambda: self.alert(ELSEWHERE), lambda: self.alert(OTHER_APP), lambda: self.alert(GONE),
            lambda: self.send((APP, self.channels[0]), {"aps": live}, **update),
            lambda: self.send((APP, "bm9uZQ=="), {"aps": live}, **update), lambda: self.send((PARCEL, channel[1]), {"aps": live}, **update),
            lambda: self.send(channel, {"aps": live}, **{**update, "apns_push_type": None}),
            lambda: self.send(channel, {"aps": {**live, "more": "x" * 5_200}}, **update),
            # An update to the token of a device or of a start, which the phone ignores.
            lambda: self.send_live(target, self.live(target, "update")), lambda: self.send_live(OFFLINE[3], self.live(target, "end")),
            lambda: self.send_live(STARTS[0], self.live("mistake", "update")),
            lambda: self.send_live(target, self.live("mistake", "start", **{"alert": {"title": "A"}, "attributes-type": "A", "attributes": {}})),
        )()

    def faulty(self):
        self.alert(self.pick(*SUFFIXED, *FAULTY))

    def left(self):
        """A push whose client leaves before the answer, which the simulator delays."""
        self.alert(self.pick(*SLOW), lost="the client left before it was sent (fault delay)", apns_collapse_id=self.pick(None, "order-1"))

    def toggle(self):
        name = self.pick(*OFFLINE[:5], *AWAY_ACTIVITIES, *SUBSCRIBERS, OFFLINE[5], GONE)
        if name == GONE or name == OFFLINE[5] and self.random.random() < 0.5:
            # The app registers again, or is removed.
            if self.random.random() < 0.5:
                return self.register(name, [APP, APP + LIVE])
            self.device(name, **{"unregistered-at": BASE * 1000})
            return self.record("unregister", name, BASE * 1000)
        self.set_online(name, name in self.offline)

    def let_expire(self):
        """Sends pushes to phones that are offline until the pushes have expired, or are replaced before."""
        first = len(self.pushes) + 1
        for name in OFFLINE[:4] + AWAY_ACTIVITIES[:2]:
            if name not in self.offline:
                self.set_online(name, False)
        soon = int(time.time()) + 2
        for name in OFFLINE[:4]:
            self.alert(name, apns_expiration=soon)
        for name in AWAY_ACTIVITIES[:2]:
            self.send_live(name, self.live(name, "update"), apns_expiration=soon)
        self.alert(OFFLINE[0], apns_expiration=soon + 3_600)
        query = f"/api/v1/pushes/numbers?query=verdict:stored%20number:{first}-{len(self.pushes) - 1}"
        self.wait_until(lambda: not self.simulator.ask("GET", query)["numbers"], "stored pushes do not expire")

    def model(self, arrivals, started):
        """The model after everything that happened, with the times at which the pushes arrived."""
        apple = Apple(started)
        apple.contracts[PARCEL] = MEMBERS
        for action, values in self.script:
            if action == "push":
                values[0].at = arrivals[values[0].number]
                apple.receive(values[0])
            else:
                getattr(apple, action)(*values)
        return apple
