# SPDX-License-Identifier: Apache-2.0

"""A localized notification with an attachment, from its snapshot through the client and the simulator to its previews.

`EnrichedSendTests` sends the same snapshot, and passes its payload to the code of the app's service extension.
"""

import pathlib
import subprocess
import unittest

from inbox_walk import MARTLET
from playwright.sync_api import expect
from preview_walk import PreviewWalk

DOCUMENTS = pathlib.Path(__file__).parents[3] / "Examples/OrderTracker/Documents"
SHOP = "com.example.app"
TEXTS = {
    "en": ["Order 17 is ready", "It is on shelf 4", "Pick it up until 18:00 at Main Street 5."],
    "de": ["Bestellung 17 ist fertig", "Sie steht in Regal 4", "Abholung in Main Street 5 bis 18:00 Uhr."],
}
# The colors of the loaf's crumb and of the background, at their places in the picture.
COLORS = """image => {
    const canvas = document.createElement("canvas")
    canvas.width = image.naturalWidth
    canvas.height = image.naturalHeight
    const brush = canvas.getContext("2d", { willReadFrequently: true })
    brush.drawImage(image, 0, 0)
    const color = (x, y) => [...brush.getImageData(x, y, 1, 1).data].slice(0, 3)
    return [image.naturalWidth, image.naturalHeight, color(120, 55), color(5, 5)]
}"""
CRUMB, BACKGROUND = (222, 160, 84), (236, 229, 216)


class Enriched(PreviewWalk):
    def send(self):
        """Sends the snapshot with the client, and uploads the app's strings as a string catalog."""
        run = subprocess.run(
            [MARTLET, "send", "--host", self.simulator.apns, "--to", "5d3a6a1c8f9a42d6", "--topic", SHOP,
             "--snapshot", DOCUMENTS / "order-ready.json"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.put(f"strings/{SHOP}", (DOCUMENTS / "Localizable.xcstrings").read_text())
        self.open()
        self.show(1)

    def field(self):
        return self.page.get_by_label("Picture for bread.png")

    def choose_picture(self, file):
        self.field().set_input_files(file)

    def assert_is_bread(self, picture):
        expect(picture).to_have_count(1)
        self.wait_until(lambda: self.evaluated(picture, "image => image.complete && image.naturalWidth > 0"))
        width, height, *colors = self.evaluated(picture, COLORS)
        self.assertEqual((width, height), (240, 180))
        for color, expected in zip(colors, (CRUMB, BACKGROUND)):
            self.assertLess(max(abs(one - other) for one, other in zip(color, expected)), 12, (color, expected))

    def test_a_localized_notification_is_shown_in_two_languages_with_its_picture(self):
        self.send()
        expect(self.screen("Expanded").locator(".attachment")).to_have_text("bread.png")
        expect(self.page.locator(".missing-string")).to_have_count(0)
        self.choose_picture(DOCUMENTS / "bread.png")
        for language, texts in TEXTS.items():
            self.choose("Language", language)
            for surface, place in {"Lock Screen": ".thumbnail", "Banner": ".thumbnail", "Expanded": ".attachment"}.items():
                card = self.screen(surface).locator(".notification")
                for part, text in zip((".title", ".subtitle", ".body"), texts):
                    expect(card.locator(part)).to_have_text(text)
                self.assert_is_bread(card.locator(f"{place} img"))
        # The browser has stored the picture, and has loaded nothing from the address in the payload.
        self.page.reload()
        self.show(1)
        self.assert_is_bread(self.screen("Expanded").locator(".attachment img"))
        self.assertEqual([each.url for each in self.requests if "shop.example.com" in each.url], [])

    def test_a_file_that_ios_would_not_attach_is_refused_with_the_reason(self):
        self.send()
        problem = self.page.locator(".picture-field [role=alert]")
        for name, content, reason in [
            ("order.png", b"<html>", "order.png is not an image."),
            ("large.png", bytes(10_000_001), "large.png has 10,000,001 bytes; iOS attaches images of up to 10,000,000."),
        ]:
            self.choose_picture({"name": name, "mimeType": "image/png", "buffer": content})
            expect(problem).to_have_text(reason)
        expect(self.screen("Expanded").locator(".attachment")).to_have_text("bread.png")

    def test_a_hidden_thumbnail_is_only_in_the_expanded_notification(self):
        snapshot = (DOCUMENTS / "order-ready.json").read_text()
        hidden = snapshot.replace('"type": "public.png",', '"type": "public.png", "thumbnail": {"hidden": true},')
        self.assertNotEqual(hidden, snapshot)
        run = subprocess.run(
            [MARTLET, "send", "--host", self.simulator.apns, "--to", "5d3a6a1c8f9a42d6", "--topic", SHOP, "--snapshot", "-"],
            input=hidden, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.open()
        self.show(1)
        expect(self.screen("Lock Screen").locator(".thumbnail")).to_have_count(0)
        expect(self.screen("Expanded").locator(".attachment")).to_have_text("bread.png")


if __name__ == "__main__":
    unittest.main()
