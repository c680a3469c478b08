# SPDX-License-Identifier: Apache-2.0

"""Prints the lanes and the outcomes that the relay's status page shows, as JSON.

Usage: read_lanes.py URL KEY
"""

import json
import shutil
import sys

from playwright.sync_api import sync_playwright


def main(url, key):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("API key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        rows = page.locator("#lanes tbody tr")
        rows.first.wait_for()
        lanes = [
            {cell.get_attribute("data-label"): " ".join(cell.inner_text().split()) for cell in row.locator("th, td").all()}
            for row in rows.all()
        ]
        outcomes = page.locator("#facts dt", has_text="Pushes since the start").locator("xpath=following-sibling::dd[1]")
        print(json.dumps({"outcomes": outcomes.inner_text(), "lanes": lanes}))
        browser.close()


main(*sys.argv[1:])
