# SPDX-License-Identifier: Apache-2.0

"""The base class of the tests of the web pages in Chromium, and their limits on time."""

import os
import shutil
import time
import unittest

from playwright.sync_api import expect, sync_playwright

# Proxies of the machine and options of martlet would change what the pages, the programs and this process do.
KEPT = ("MARTLET_PROGRAM", "MARTLET_MEASURE", "MARTLET_DELAY")
for name in list(os.environ):
    if name.lower().endswith("_proxy") or name.startswith("MARTLET_") and name not in KEPT:
        del os.environ[name]
# The path of the program.
MARTLET = os.environ["MARTLET_PROGRAM"]
# The time in seconds after which a test fails that waits: a guard against hanging, ten times what a busy machine needs.
PATIENCE = 120
# Whether times are compared with their limits, which are true of an idle machine only.
MEASURES = os.environ.get("MARTLET_MEASURE") == "1"
expect.set_options(timeout=PATIENCE * 1000)
# The longest time in milliseconds by which each request of a page and each answer is delayed, at random: so a test fails
# that acts before what it acts on is there.
DELAY = int(os.environ.get("MARTLET_DELAY", "0"))
DELAYED_FETCH = """
const fetchAtOnce = window.fetch
const delay = () => new Promise(done => setTimeout(done, Math.random() * %d))
window.fetch = async (...request) => {
  // A page that is left waits for nothing.
  if (request[1]?.keepalive) return fetchAtOnce(...request)
  await delay()
  const answer = await fetchAtOnce(...request)
  await delay()
  return answer
}
"""


class BrowserWalk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        # Containers often have a small /dev/shm, which the second flag avoids.
        cls.browser = cls.playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=PATIENCE * 1000)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.errors, self.allowed = [], []

    def tearDown(self):
        self.assertEqual([error for error in self.errors if not any(text in error for text in self.allowed)], [])

    def allow_errors(self, *texts):
        """Lets the page report errors with one of these texts, which the walk causes; others fail each walk."""
        self.allowed += texts

    def open_page(self, **more):
        """Opens an empty page in a context with more settings; `errors` receives its errors and warnings."""
        # Language and time zone of the machine would change the numbers and times on the pages.
        settings = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US", "timezone_id": "UTC", **more}
        self.context = self.browser.new_context(**settings)
        self.addCleanup(self.context.close)
        self.context.set_default_timeout(PATIENCE * 1000)
        if DELAY:
            self.context.add_init_script(DELAYED_FETCH % DELAY)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.errors.append(message.text))

    def wait_until(self, condition, message="the condition has not become true"):
        """Waits until a condition is true that the page does not show."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, message)
            self.page.wait_for_timeout(20)

    def evaluated(self, locator, function):
        """The value of a function of an element; once more if the page replaces the element meanwhile."""
        values = []
        def is_evaluated():
            found = locator.evaluate(f"async element => element.isConnected ? [await ({function})(element)] : null")
            values.extend(found or [])
            return found
        self.wait_until(is_evaluated, "the element is replaced again and again")
        return values[0]

    def box(self, locator):
        """The position and size of an element in the window, in pixels."""
        return self.evaluated(locator, "element => element.getBoundingClientRect().toJSON()")

    def assert_fast(self, what, seconds, limit):
        """Prints a time in seconds. Compares it with its limit when times are measured, else with ten times the limit."""
        print(f"{self.id()}: {what} after {seconds:.3f} s", flush=True)
        self.assertLess(seconds, limit if MEASURES else 10 * limit, what)

    def copied_by(self, action):
        """Does what copies a text, and returns the text once it is in the clipboard."""
        clipboard = lambda: self.page.evaluate("navigator.clipboard.readText()")
        self.page.evaluate("navigator.clipboard.writeText('')")
        action()
        self.wait_until(clipboard, "nothing has been copied")
        return clipboard()
