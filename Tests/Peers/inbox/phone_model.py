# SPDX-License-Identifier: Apache-2.0

"""An independent model of APNs and of phones, which predicts the verdict on each push of a world.

It is written from Apple's documentation and shares no code with the simulator. Only the words are those of the inbox.
"""

import json
import time
from dataclasses import dataclass, field

LIVE = ".push-type.liveactivity"
SUFFIXES = {
    "alert": "", "background": "", "complication": ".complication", "controls": ".push-type.controls", "fileprovider": ".pushkit.fileprovider",
    "liveactivity": LIVE, "location": ".location-query", "pushtotalk": ".voip-ptt", "voip": ".voip", "widgets": ".push-type.widgets",
}
STATUSES = {"Unregistered": 410, "PayloadTooLarge": 413, "TooManyRequests": 429, "InternalServerError": 500, "ServiceUnavailable": 503}
# The answers that the end of a device token selects in the simulator; None for none.
TOKEN_SUFFIXES = {"00dead": "Unregistered", "000429": "TooManyRequests", "000503": "ServiceUnavailable", "00e5e7": None}
HOUR = 3_600_000
# APNs stores a push for thirty days at most, and a broadcast for eight hours.
LONGEST_STORAGE, LONGEST_BROADCAST_STORAGE = 30 * 24 * HOUR, 8 * HOUR
# An ended Live Activity stays for four hours at most.
LONGEST_STAY = 4 * HOUR
LEVELS = ("passive", "active", "time-sensitive", "critical")
TEXTS = ("title", "body", "subtitle", "title-loc-key", "loc-key", "subtitle-loc-key")
EFFECTS = {
    "complication": "complication updates", "fileprovider": "file provider checks for changes", "location": "location is requested",
    "pushtotalk": "the app handles Push to Talk", "voip": "the app must report a call",
}
# The verdicts on a broadcast, the best first, and the words for each.
KINDS = {
    "shown": "shown", "delivered": "delivered", "replaced": "replaced", "ended": "ended", "stored": "stored", "not-shown": "not shown",
    "discarded": "discarded",
}
FATES = {
    "delivered": "shown", "delivered-from-storage": "shown", "stored-device-offline": "stored", "discarded-replaced": "discarded",
    "discarded-expired": "discarded", "discarded-not-stored": "discarded", "ignored": "not-shown", "replaced-on-device": "replaced",
    "activity-ended": "ended",
}


def clock(milliseconds, reference):
    """A time in UTC, with its date when that is not the date of another time."""
    at, other = (time.gmtime(each // 1000) for each in (milliseconds, reference))
    return time.strftime("%H:%M UTC" if at[:3] == other[:3] else "%Y-%m-%d %H:%M UTC", at)


def part(text, cause=None):
    return f"{text} ({cause})" if cause else text


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass
class Push:
    number: int
    # The token, or the app and the channel.
    target: object
    headers: dict
    payload: object
    size: int
    # The time of arrival in milliseconds since 1970.
    at: int = 0
    # The reason with which a fault of the simulator answers, the name of the fault, and what kept the answer from the client.
    reason: str | None = None
    fault: str | None = None
    lost: str | None = None

    @property
    def is_broadcast(self):
        return not isinstance(self.target, str)

    @property
    def topic(self):
        return self.headers.get("apns-topic", "")

    @property
    def type(self):
        return self.headers.get("apns-push-type", "alert").lower()

    @property
    def aps(self):
        aps = self.payload.get("aps") if isinstance(self.payload, dict) else None
        return aps if isinstance(aps, dict) else {}

    @property
    def is_activity(self):
        return self.is_broadcast or self.type == "liveactivity"

    @property
    def has_text(self):
        alert = self.aps.get("alert")
        texts = [alert] if isinstance(alert, str) else [alert.get(name) for name in TEXTS] if isinstance(alert, dict) else []
        return any(isinstance(text, str) and text for text in texts)

    @property
    def expiration(self):
        value = self.headers.get("apns-expiration")
        return None if value is None else int(value)

    @property
    def storage_end(self):
        limit = self.at + (LONGEST_BROADCAST_STORAGE if self.is_broadcast else LONGEST_STORAGE)
        return limit if self.expiration is None else min(self.expiration * 1000, limit)


@dataclass
class Fate:
    """The last event of a push at one device."""
    kind: str
    reason: str | None = None
    by: int | None = None
    # The value that has another type than in an earlier push; the app may not decode it.
    doubt: str | None = None
    at: int | None = None
    # Whether a channel had stored the push for later subscribers.
    is_of_channel: bool = False
    # How the device had presented a push before another one took its place.
    before: object = None


@dataclass
class Activity:
    timestamp: int
    content: object
    push: Push
    # The number of the push whose content later content is compared with.
    baseline: tuple
    has_ended: bool = False


@dataclass
class Phone:
    """What one token leads to: a device, a Live Activity, or the start of Live Activities."""
    is_online: bool = True
    topics: list | None = None
    is_elsewhere: bool = False
    unregistered: int | None = None
    stored: dict = field(default_factory=dict)
    shown: list = field(default_factory=list)
    activity: Activity | None = None
    # The numbers of the pushes that reached the Live Activity, and of those that it ignored.
    pushes: int = 0
    ignored: int = 0
    started: list = field(default_factory=list)
    # What the token is for: "device", "activity" or "start".
    use: str = "device"


@dataclass
class Verdict:
    kind: str
    text: str
    by: int | None = None
    on_screen: bool = False
    until: int | None = None
    uncertain: bool = False


class Apple:
    """APNs with its phones. `started` has the token of the activity that each push starts, which only the app knows."""

    def __init__(self, started=None):
        self.phones, self.channels, self.contracts, self.pushes = {}, {}, {}, {}
        self.answers, self.fates = {}, {}
        self.started = started or {}

    # What the test does besides pushes.

    def phone(self, token, use="device"):
        return self.phones.setdefault(token, Phone(use=use))

    def register(self, token, topics, is_elsewhere=False):
        phone = self.phone(token)
        phone.topics, phone.is_elsewhere, phone.unregistered = topics, is_elsewhere, None

    def unregister(self, token, since):
        self.phone(token).unregistered = since

    def set_online(self, token, is_online, now):
        self.expire(now)
        phone = self.phone(token)
        phone.is_online = is_online
        if is_online:
            waiting, phone.stored = sorted(phone.stored.values(), key=lambda push: push.number), {}
            for push in waiting:
                self.present(push, token, "delivered-from-storage", now)

    def add_channel(self, channel, app, policy):
        self.channels[channel] = {"app": app, "policy": policy, "stored": None, "subscribers": set()}

    def subscribe(self, token, channel, now):
        self.channels[channel]["subscribers"].add(token)
        stored = self.channels[channel]["stored"]
        if stored and now <= stored.storage_end:
            self.deliver(stored, token, "delivered-from-storage", now)

    # Requests.

    def refusal(self, push):
        """The reason of the refusal; None when APNs accepts the push. Each push breaks one rule at most."""
        headers = push.headers
        kind, priority, expiration = headers.get("apns-push-type"), headers.get("apns-priority"), headers.get("apns-expiration")
        is_body_too_large = push.size > (5120 if push.is_broadcast or push.type == "voip" else 4096)
        if expiration is not None and not expiration.isdigit():
            return "BadExpirationDate"
        if priority not in (None, "10", "5", "1") or priority == "10" and kind == "background":
            return "BadPriority"
        if push.is_broadcast:
            app, channel = push.target
            known = self.channels.get(channel)
            if kind is None:
                return "MissingPushType"
            if known is None or known["app"] != app:
                return "ChannelNotRegistered"
            if known["policy"] == 0 and expiration != "0":
                return "BadExpirationDate"
            return "PayloadTooLarge" if is_body_too_large else "PayloadEmpty" if push.size == 0 else None
        if kind is not None and kind not in SUFFIXES:
            return "InvalidPushType"
        if "apns-topic" not in headers:
            return "MissingTopic"
        if len(headers.get("apns-collapse-id", "").encode()) > 64:
            return "BadCollapseId"
        if push.size == 0:
            return "PayloadEmpty"
        if is_body_too_large:
            return "PayloadTooLarge"
        if len(push.target) % 2 or any(digit not in "0123456789abcdef" for digit in push.target):
            return "BadDeviceToken"
        phone = self.phones.get(push.target, Phone())
        if phone.is_elsewhere:
            return "BadDeviceToken"
        if phone.unregistered is not None:
            return "Unregistered"
        return "DeviceTokenNotForTopic" if phone.topics is not None and push.topic not in phone.topics else None

    def receive(self, push):
        self.expire(push.at)
        self.pushes[push.number] = push
        self.fates[push.number] = {}
        reason = push.reason or self.refusal(push)
        suffix = "" if push.is_broadcast else push.target[-6:]
        if reason is None and suffix in TOKEN_SUFFIXES:
            push.fault, reason = suffix, TOKEN_SUFFIXES[suffix]
            if reason is None:
                push.lost = f"fault {suffix}"
                return
        self.answers[push.number] = reason
        if reason:
            return
        if not push.is_broadcast:
            return self.deliver(push, push.target, "delivered", push.at)
        channel = self.channels[push.target[1]]
        if push.expiration and push.at <= push.storage_end:
            channel["stored"] = push
        for token in sorted(channel["subscribers"]):
            self.deliver(push, token, "delivered", push.at)

    def expire(self, now):
        for token, phone in self.phones.items():
            for slot, push in list(phone.stored.items()):
                if now > push.storage_end:
                    del phone.stored[slot]
                    self.settle(push, token, "discarded-expired", "expired while the device was offline")

    # Phones.

    def settle(self, push, token, kind, reason=None, **more):
        before = self.fates[push.number].get(token) if FATES[kind] in ("replaced", "ended") else None
        self.fates[push.number][token] = Fate(kind, reason, before=before, **more)

    def deliver(self, push, token, kind, now):
        phone = self.phone(token)
        if phone.is_online:
            return self.present(push, token, kind, now, is_of_channel=kind == "delivered-from-storage")
        if push.expiration == 0:
            return self.settle(push, token, "discarded-not-stored", "device is offline and apns-expiration is 0")
        if now > push.storage_end:
            return self.settle(push, token, "discarded-expired", "expired before it arrived")
        slot = push.target[1] if push.is_broadcast else push.topic
        if slot in phone.stored:
            self.settle(phone.stored[slot], token, "discarded-replaced", by=push.number)
        phone.stored[slot] = push
        self.settle(push, token, "stored-device-offline")

    def present(self, push, token, kind, now, is_of_channel=False):
        phone = self.phone(token)
        if push.is_activity:
            return self.change(push, token, phone, kind, now, is_of_channel)
        self.settle(push, token, kind, at=now)
        if push.type != "alert" or not push.has_text:
            return
        name = push.headers.get("apns-collapse-id")
        for older in [each for each in phone.shown if name and each.headers.get("apns-collapse-id") == name and each.topic == push.topic]:
            phone.shown.remove(older)
            self.settle(older, token, "replaced-on-device", by=push.number)
        phone.shown.append(push)

    @staticmethod
    def malformed(push):
        """The reason for which a Live Activity ignores a push whatever its state is; None when it depends on that."""
        aps = push.aps
        event, timestamp, state = aps.get("event"), aps.get("timestamp"), aps.get("content-state")
        if timestamp is None:
            return "it has no timestamp"
        if timestamp > 100_000_000_000:
            return f"its timestamp {timestamp} is in milliseconds, not in seconds"
        if event not in ("start", "update", "end"):
            return f"its event {json.dumps(event)} is not start, update or end"
        if event == "start":
            if push.is_broadcast:
                return "a broadcast cannot start an activity"
            missing = [name for name in ("attributes-type", "attributes", "alert") if name not in aps]
            if missing:
                return f"a start needs {missing[0]}"
        return "it has no content-state" if state is None and event != "end" else None

    def ignored(self, push, phone):
        """The reason for which a Live Activity ignores a push; None when it does not."""
        reason = self.malformed(push)
        if reason:
            return reason
        aps, activity = push.aps, phone.activity
        event, timestamp, state = aps.get("event"), aps.get("timestamp"), aps.get("content-state")
        if phone.use == "device":
            return "this is a device's token, not an activity's"
        if event != "start" and phone.use == "start":
            return f"the token starts Live Activities: send an {event} to the token of the activity"
        if event == "start" and phone.use == "activity":
            return "the token updates a Live Activity: send a start to the push-to-start token of the device"
        if activity and event != "start":
            if activity.has_ended:
                return "the activity has ended"
            # Developers report that an end with any timestamp ends the activity (Apple forum 776165).
            if event == "update" and timestamp < activity.timestamp:
                return "older than the content on screen"
            if event == "update" and timestamp == activity.timestamp:
                return "its timestamp is that of the content on screen"
        app = push.target[0] if push.is_broadcast else push.topic.removesuffix(LIVE)
        # A contract has the required members with their types.
        for name, (expected, words) in self.contracts.get(app, {}).items() if state is not None else ():
            if not isinstance(state.get(name), expected):
                return f"the phone cannot decode content-state: /{name} {words if name in state else 'is missing'}"
        return None

    def change(self, push, token, phone, kind, now, is_of_channel):
        reason = self.ignored(push, phone)
        if reason:
            self.settle(push, token, "ignored", reason)
            phone.pushes, phone.ignored = phone.pushes + 1, phone.ignored + 1
            return
        aps = push.aps
        if aps["event"] == "start":
            self.settle(push, token, kind, at=now)
            phone.started.append(push.number)
            own = self.started.get(push.number, f"activity of push {push.number}")
            started = self.phone(own, "activity")
            started.topics = [push.topic]
            started.activity = Activity(aps["timestamp"], aps["content-state"], push, (push.number, aps["content-state"]))
            started.pushes = 1
            if "input-push-channel" in aps:
                self.subscribe(own, aps["input-push-channel"], now)
            return
        before, state = phone.activity, aps.get("content-state")
        app = push.target[0] if push.is_broadcast else push.topic.removesuffix(LIVE)
        doubt = self.doubt(before, state) if app not in self.contracts else None
        baseline = before.baseline if before and (doubt or state is None) else (push.number, state)
        phone.pushes += 1
        phone.activity = Activity(aps["timestamp"], state if state is not None else before and before.content, push, baseline, aps["event"] == "end")
        if before:
            place = token if before.push.is_broadcast or before.push.target == token else before.push.target
            self.settle(before.push, place, "activity-ended" if aps["event"] == "end" else "replaced-on-device", by=push.number)
        self.settle(push, token, kind, doubt=doubt, at=now, is_of_channel=is_of_channel)

    @staticmethod
    def doubt(before, state):
        """Why the app may not decode content: minutes has another type than before."""
        number, known = before.baseline if before else (None, None)
        types = ["a string" if isinstance(each["minutes"], str) else "a number" for each in (known, state) if each]
        if len(set(types)) < 2:
            return None
        return f"the app may not decode it (minutes was {types[0]} in push {number}, and is {types[1]})"

    # Verdicts.

    def verdict(self, number, token=None):
        """The verdict on a push, or on a broadcast at one of its activities; None when it was not delivered to that."""
        push, fates = self.pushes[number], self.fates[number]
        if push.lost and not fates:
            return Verdict("unanswered", f"No answer: {push.lost}")
        if self.answers[number]:
            return Verdict("refused", f"Refused: {part(self.answers[number], push.fault and f'fault {push.fault}')}")
        if push.is_broadcast and token is None:
            return self.tally(push, fates)
        if push.is_broadcast and token not in fates:
            return None
        found = self.at_device(push, fates[token or push.target])
        if push.lost:
            found.kind, found.text = "unanswered", f"No answer: {push.lost} · {found.text[0].lower()}{found.text[1:]}"
        return found

    def at_device(self, push, fate):
        kind, by = FATES[fate.kind], f"push {fate.by}"
        if kind == "shown":
            beginning = "Delivered"
            if fate.kind == "delivered-from-storage":
                beginning = f"Delivered when the {'activity subscribed to the channel' if fate.is_of_channel else 'device came online'}"
            return self.presented(push, fate, beginning)
        if kind == "stored":
            end = push.storage_end
            is_limited = push.expiration is None or push.expiration * 1000 > end
            limit = ("8 hours at most" if push.is_broadcast else "30 days at most") if is_limited else None
            reason = self.malformed(push) if push.is_activity else None
            neglect = f" · the phone will ignore it ({reason})" if reason else ""
            return Verdict(kind, f"Stored: device is offline, {part(f'expires {clock(end, push.at)}', limit)}{neglect}", until=end // 1000)
        if fate.kind == "discarded-replaced":
            return Verdict(kind, f"Discarded: replaced by {by} while the device was offline", fate.by)
        if kind == "discarded":
            return Verdict(kind, f"Discarded: {fate.reason}")
        if kind == "not-shown":
            return Verdict(kind, f"Not shown: {fate.reason}")
        cause = "newer content" if push.is_activity else "same collapse identifier"
        end = f"ended by {by}" if kind == "ended" else f"replaced by {by} ({cause})"
        before = self.at_device(push, fate.before)
        return Verdict(kind, f"{before.text} · {end}", fate.by, uncertain=before.uncertain)

    def presented(self, push, fate, beginning):
        """The verdict on a push that the device has accepted."""
        aps = push.aps
        if push.is_activity:
            parts, is_visible = activity_parts(aps, fate.at)
            parts += [fate.doubt] if fate.doubt else []
            kind = "shown" if is_visible else "delivered"
            return Verdict(kind, " · ".join([beginning, *parts]), on_screen=is_visible, uncertain=fate.doubt is not None)
        if push.type == "background":
            wakes = is_number(aps.get("content-available")) and aps["content-available"] == 1
            return Verdict("delivered", f"{beginning} silently · " + (
                "wakes the app" if wakes else f"does not wake the app (aps.content-available is {'not 1' if 'content-available' in aps else 'missing'})"))
        if push.type in ("widgets", "controls"):
            effect = f"{push.type} reload" if aps.get("content-changed") is True else (
                f"{push.type} do not reload (aps.content-changed is {'not true' if 'content-changed' in aps else 'missing'})")
            return Verdict("delivered", f"{beginning} · {effect}")
        if push.type != "alert":
            return Verdict("delivered", f"{beginning} · {EFFECTS[push.type]}")
        if "aps" not in push.payload:
            return Verdict("delivered", f"{beginning} · nothing to show (aps is missing)")
        parts, is_silent = alert_parts(push)
        if is_silent:
            return Verdict("delivered", f"{beginning} silently · {parts[-1]}")
        kind = "shown" if push.has_text else "delivered"
        return Verdict(kind, " · ".join([beginning, *parts]), on_screen=push.has_text)

    def tally(self, push, fates):
        """The verdict on a broadcast, which counts the activities."""
        if not fates:
            return Verdict("delivered", "No subscribers")
        at = max((fate.at or push.at for fate in fates.values()), default=push.at)
        parts, is_visible = activity_parts(push.aps, at)
        counts = {}
        for fate in fates.values():
            kind = FATES[fate.kind]
            kind = "delivered" if kind == "shown" and not is_visible else kind
            counts[kind] = counts.get(kind, 0) + 1
        best, *others = [kind for kind in KINDS if kind in counts]
        replacing = {fate.by for fate in fates.values()}
        by = replacing.pop() if len(replacing) == 1 else None
        total = sum(counts.values())
        start = f"{KINDS[best].capitalize()} {'for' if best == 'stored' else 'on'} {counts[best]} of {total} {'activity' if total == 1 else 'activities'}"
        texts = [start + (f" by push {by}" if by else "")] + [f"{counts[kind]} {KINDS[kind]}" for kind in others]
        if best == "stored":
            reason = self.malformed(push)
            parts = [f"the phone will ignore it ({reason})"] if reason else []
        elif best not in ("shown", "delivered", "replaced", "ended"):
            parts = []
        return Verdict(best, " · ".join(texts + parts), by, best == "shown")


# Presentations.


def activity_parts(aps, at):
    """What a push changes on a Live Activity, and whether the activity is visible afterwards."""
    event = aps.get("event")
    parts = [f"Live Activity {event}s"] if event in ("start", "update", "end") else []
    is_visible = True
    if event == "end":
        dismissal = aps.get("dismissal-date")
        end = None if dismissal is None else min(dismissal * 1000, at + LONGEST_STAY)
        is_visible = end is None or end > at
        parts.append("stays for up to 4 hours" if end is None else f"stays until {clock(end, at)}" if is_visible
                     else "removed at once (aps.dismissal-date has passed)")
    if "alert" in aps:
        alert = aps["alert"] if isinstance(aps["alert"], dict) else {}
        parts += ["alert", part(*sound(alert, "aps.alert"))]
    if "stale-date" in aps:
        stale = aps["stale-date"] * 1000
        parts.append(f"outdated from {clock(stale, at)}" if stale > at else "outdated at once")
    return parts, is_visible


def level(aps):
    """The interruption level and its cause."""
    value = aps.get("interruption-level")
    named = value if value in LEVELS else None
    if named not in ("passive", "critical") and isinstance(aps.get("sound"), dict) and aps["sound"].get("critical") == 1:
        return "critical", "aps.sound.critical is 1"
    return (named, None) if named else ("active", f"aps.interruption-level is {'missing' if value is None else 'not a level'}")


def sound(aps, path="aps", is_passive=False):
    """The sound, and the cause when there is none."""
    if "sound" not in aps:
        return "no sound", f"{path}.sound is missing"
    if is_passive:
        return "no sound", "aps.interruption-level is passive"
    value = aps["sound"]
    name = value.get("name", "default") if isinstance(value, dict) else value
    if not name:
        return "no sound", f"{path}.sound{'.name' if isinstance(value, dict) else ''} is empty"
    volume = value.get("volume", 1) if isinstance(value, dict) else 1
    if volume == 0:
        return "no sound", f"{path}.sound.volume is 0"
    words = "default sound" if name == "default" else f"sound {name}"
    is_softer = isinstance(value, dict) and value.get("critical") == 1 and volume < 1
    return words + (f" at {round(volume * 100)} % of the volume" if is_softer else ""), None


def badge(aps):
    """The badge, and the cause when it does not change."""
    value = aps.get("badge")
    if value is None:
        return "badge unchanged", "aps.badge is missing"
    if not is_number(value) or value < 0:
        return "badge unchanged", f"aps.badge is {'below 0' if is_number(value) else 'not a whole number'}"
    return (f"badge {value}" if value else "badge removed"), None


def presentation(push):
    """The level, the sound and the badge that the page names for a push with an alert; None for other pushes."""
    aps = push.aps
    if push.is_activity:
        return {"sound": sound(aps["alert"], "aps.alert")} if isinstance(aps.get("alert"), dict) else None
    if push.type != "alert" or not isinstance(push.payload, dict) or "aps" not in push.payload:
        return None
    return {"level": level(aps), "sound": sound(aps, is_passive=level(aps)[0] == "passive"), "badge": badge(aps)}


def alert_parts(push):
    """What a phone makes of an alert, and whether it only wakes the app."""
    aps = push.aps
    rank, alert = level(aps)[0], aps.get("alert")
    is_passive = rank == "passive"
    if not push.has_text:
        parts = [part("no banner", "aps.alert is missing" if alert is None else "aps.alert has no text")]
    else:
        parts = [part("in the list only", "aps.interruption-level is passive") if is_passive else "banner"]
        if rank in ("time-sensitive", "critical"):
            parts.append(rank)
    words, cause = sound(aps, is_passive=is_passive)
    if push.has_text or cause is None:
        parts.append(part(words, cause))
    if "badge" in aps:
        parts.append(part(*badge(aps)))
    if push.has_text and aps.get("thread-id"):
        parts.append(f"thread {aps['thread-id']}")
    if push.has_text and aps.get("mutable-content") == 1:
        parts.append("service extension runs")
    wakes = aps.get("content-available") == 1
    if wakes:
        parts.append("wakes the app")
    return parts, wakes and not push.has_text and cause is not None and badge(aps)[1] is not None
