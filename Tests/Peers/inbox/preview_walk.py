# SPDX-License-Identifier: Apache-2.0

"""The base class of the preview tests, with Apple's sizes, pushes of every type and stored surfaces."""

import json
import urllib.request

from inbox_walk import InboxWalk, push
from playwright.sync_api import expect

APP = "com.example.app"
# Widths and heights in points from Apple's Human Interface Guidelines, which have those of 393x852 and 430x932 in full; a tuple is
# a range. Other phones have the sizes of the nearest documented one. Sizes of notifications and controls are based on observation.
ACTIVITY = (84, 160)
# A watch of 45 mm has 198 by 242 points, here with a bezel of 9 around them. The other sizes are based on observation.
OTHERS = {"app": (64, 64), "watch": (216, 260), "car": (480, 288), "mac": (344, None),
          "smart-stack": (184, 80.5), "car-activity": (240, 78), "menu-activity": ((40, 230), 22)}
SIZES = {
    "393x852": {
        "notification": (377, None), "activity": (371, ACTIVITY), "compact": (230, 36.67), "ear": (52.33, 36.67),
        "minimal": ((36.67, 45), 36.67), "expanded": (371, ACTIVITY), "standby": (852, 393), "upright": (36.67, 230), "small": (158, 158),
        "medium": (338, 158), "large": (338, 354), "circular": (72, 72), "rectangular": (160, 72), "inline": (234, 26),
        "wide": (156, 70), "round": (70, 70), **OTHERS,
    },
    "430x932": {
        "notification": (414, None), "activity": (408, ACTIVITY), "compact": (250, 36.67), "ear": (62.33, 36.67),
        "minimal": ((36.67, 45), 36.67), "expanded": (408, ACTIVITY), "standby": (932, 430), "upright": (36.67, 250), "small": (170, 170),
        "medium": (364, 170), "large": (364, 382), "circular": (76, 76), "rectangular": (172, 76), "inline": (257, 26),
        "wide": (156, 70), "round": (70, 70), **OTHERS,
    },
    "375x667": {
        "notification": (359, None), "activity": (353, ACTIVITY), "small": (148, 148), "medium": (321, 148),
        "large": (321, 324), "circular": (68, 68), "rectangular": (153, 68), "inline": (225, 26), "wide": (156, 70),
        "round": (70, 70), **OTHERS,
    },
}

BASE = {"schemaVersion": "5", "id": "order-17@3", "surfaceId": "order-17", "updatedAt": "2026-05-12T18:31:00Z", "state": "active"}
LINK = {"deepLink": "shop://orders/17"}
CONTENT = {"title": "On its way", "body": "Two stops before you", "progress": 0.5, **LINK}
SLICES = {
    "widget": {**CONTENT, "family": "systemMedium"}, "standby": CONTENT,
    "lockAccessory": {"title": "On its way", "family": "accessoryCircular", "gaugeValue": 0.5, "shortText": "2 stops", **LINK},
    "control": {"label": "Ring the bell", "controlKind": "toggle", "state": True, **LINK},
}
LIVE_STATE = {"headline": "On its way", "subhead": "Two stops before you", "progress": 0.5, "stage": "inProgress"}


def of_type(number, push_type, payload, suffix=""):
    made = push(number, payload=payload)
    made["headers"] = {"apns-push-type": push_type, "apns-topic": APP + suffix}
    return made


def activity(number, state, **aps):
    content = {"aps": {"timestamp": number, "event": "update", "content-state": state, **aps}}
    return of_type(number, "liveactivity", content, ".push-type.liveactivity")


def alert(number, **aps):
    made = push(number, payload={"aps": aps})
    made["device-token"] = "5d3a6a1c"
    return made


for name, base, width, height in (("402x874", "393x852", 402, 874), ("420x912", "430x932", 420, 912), ("440x956", "430x932", 440, 956)):
    SIZES[name] = {**SIZES[base], "notification": (width - 16, None), "activity": (width - 22, ACTIVITY), "expanded": (width - 22, ACTIVITY),
                   "standby": (height, width)}
SIZES["390x844"] = {**SIZES["393x852"], "notification": (374, None), "activity": (368, ACTIVITY)}
# The phones without a Dynamic Island.
WITHOUT_ISLAND = {"390x844", "375x667"}

RELOAD = {"aps": {"content-changed": True}}


class PreviewWalk(InboxWalk):
    def put(self, path, body, method="PUT"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        request = urllib.request.Request(self.simulator.url + "/api/v1/" + path, data, method=method)
        return urllib.request.urlopen(request).read()

    def put_surfaces(self):
        for kind, content in SLICES.items():
            self.put(f"surfaces/{APP}/{kind}", {**BASE, "kind": kind, kind: content})

    def show(self, number):
        row = self.page.locator(f"#push-{number}")
        # Selecting the push again would draw the previews again during the measurement.
        if row.get_attribute("aria-selected") != "true":
            row.click()
        self.wait_until_drawn(number)
        every = self.page.get_by_role("radio", name="All", exact=True)
        if every.count() and every.get_attribute("aria-checked") == "false":
            every.click()
            self.wait_until_drawn(number)

    def wait_until_drawn(self, number):
        expect(self.page.locator(f".previews[data-number='{number}'][aria-busy=false]")).to_be_visible()

    def choose(self, label, value):
        self.page.get_by_label(label, exact=True).select_option(value)
        expect(self.page.locator(".previews[aria-busy=false]")).to_be_visible()

    def screen(self, title):
        return self.page.locator(f".preview[aria-label='{title}']")

    def size_in_points(self, title, selector):
        """The size of an element in points of the device, which the page may scale."""
        return self.evaluated(self.screen(title).locator(selector).first, """part => {
            const scale = new DOMMatrix(getComputedStyle(part.getRootNode().querySelector(".device")).transform).a
            const { width, height } = part.getBoundingClientRect()
            return [width / scale, height / scale]
        }""")

    def assert_size(self, device, title, selector, row):
        for measured, expected in zip(self.size_in_points(title, selector), SIZES[device][row]):
            if expected is None:
                continue
            minimum, maximum = expected if isinstance(expected, tuple) else (expected, expected)
            self.assertGreaterEqual(measured, minimum - 0.05, f"{title} {selector} on {device}")
            self.assertLessEqual(measured, maximum + 0.05, f"{title} {selector} on {device}")

    def titles(self):
        expect(self.page.locator(".previews .preview").first).to_be_attached()
        return self.page.locator(".previews .preview").evaluate_all("all => all.map(each => each.ariaLabel ?? each.getAttribute('aria-label'))")
