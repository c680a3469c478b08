# SPDX-License-Identifier: Apache-2.0

"""The rules of axe and the contrast of texts, for the tests of the web pages."""

import pathlib

import axe_playwright_python

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
# The texts whose contrast with their background is below 4.5:1 (WCAG 2.2, relative luminance).
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a / 255]
  }
  const blend = (top, bottom) => top.slice(0, 3).map((c, i) => c * top[3] + bottom[i] * (1 - top[3]))
  const background = (element) => {
    if (!element) return [255, 255, 255]
    const own = rgba(getComputedStyle(element).backgroundColor)
    return own[3] === 1 ? own.slice(0, 3) : blend(own, background(element.parentElement))
  }
  const luminance = (color) => color.map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
  const failures = []
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
    if (!hasText || !element.checkVisibility() || element.matches(":disabled")) continue
    const paper = background(element)
    const [one, other] = [luminance(blend(rgba(getComputedStyle(element).color), paper)), luminance(paper)].sort((a, b) => b - a)
    const ratio = (one + 0.05) / (other + 0.05)
    if (ratio < 4.5) failures.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ${element.textContent}`)
  }
  return failures
}"""


def assert_accessible(walk, place):
    """Fails a walk if its page violates a rule of axe."""
    walk.page.evaluate(AXE)
    found = walk.page.evaluate("axe.run(document, { resultTypes: ['violations'], iframes: false })")["violations"]
    walk.assertEqual([(each["id"], each["nodes"][0]["html"]) for each in found], [], place)


def assert_contrast(walk, place):
    """Fails a walk if a text of its page has too little contrast."""
    walk.assertEqual(walk.page.evaluate(CONTRAST), [], place)
