# SPDX-License-Identifier: Apache-2.0

"""Prints the lanes that the relay's status page shows, as JSON.

Usage: read_lanes.py URL KEY
"""

import json
import re
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
        lanes = []
        for row in rows.all():
            cells = [cell.inner_text() for cell in row.locator("th, td").all()]
            # The last cell is a bar; its accessibility label has the numbers.
            lanes.append(cells[:-1] + [row.locator(".bar").get_attribute("aria-label")])
        title = page.locator("dt", has_text=re.compile("^sent per second$"))
        rate = page.locator(".figure", has=title).locator("dd").inner_text()
        print(json.dumps({"sent per second": rate, "lanes": lanes}))
        browser.close()


main(*sys.argv[1:])
