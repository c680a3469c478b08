// SPDX-License-Identifier: Apache-2.0

// The lines of texts by the widths of the phone's characters, so that no font of this computer decides what is truncated.

import { element } from "./dom.js"

/**
 * The advance widths of characters in hundredths of an em.
 *
 * They are those of Inter 4 Regular, an open font with the proportions of San Francisco, in steps of 0.02 em.
 */
const table = {
  20: "‘’", 22: "'", 24: "ijlłı", 26: "I", 28: ".:!,; ·\u00a0", 32: "|", 36: "/\\f()[]{}t", 38: "r“”„", 40: "\"", 46: "_-1°", 48: "^", 50: "`*–", 52: "?s",
  54: "xzJk«»", 56: "vycLa•", 58: "7uenF", 60: "hoEßø", 62: "2580gpqbdZ69", 64: "#P3$S&R4TX£", 66: "BK+<=>~Y€×", 68: "AV", 72: "D", 74: "CHUG",
  76: "NOQØ", 82: "%w…", 86: "m", 88: "M", 92: "@æ©", 94: "W→", 100: "—œÆ",
}
const widths = new Map(Object.entries(table).flatMap(([width, all]) => [...all].map((each) => [each, width / 100])))
/** The widths of other characters, by what they are; combining marks and invisible characters have none. */
const classes = [
  [/^[\p{M}\p{Cf}\p{Cc}]/u, 0], [/^\p{Extended_Pictographic}|^\p{Regional_Indicator}/u, 1.2],
  [/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]/u, 1],
  [/^[\p{Script=Arabic}]/u, 0.46], [/^\p{Lu}/u, 0.72],
]
const otherWidth = 0.6
/** The spacing of characters in ems, so that English at 15 points has San Francisco's averages: 0.445 em, 0.462 em in semibold. */
const spacing = (isBold) => (isBold ? -0.003 : -0.02)

/** The width of a user-perceived character in ems. */
function characterWidth(character, isBold) {
  const base = character.normalize("NFD")
  const first = String.fromCodePoint(base.codePointAt(0))
  const width = widths.get(character) ?? widths.get(first) ?? classes.find(([pattern]) => pattern.test(first))?.[1] ?? otherWidth
  return width && width + spacing(isBold)
}

/** Splits text into user-perceived characters. */
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const charactersOf = (text) => [...segmenter.segment(text)].map(({ segment }) => segment)
/** The width of a text in ems. */
export const textWidth = (text, isBold = false) => charactersOf(text).reduce((sum, each) => sum + characterWidth(each, isBold), 0)

/** The maximum number of characters that are laid out; no surface shows more. */
const maximumCharacters = 4000
/** The width of the mark beside the ellipsis in pixels: preview.css has its margin and padding. */
const markPadding = 7
/** Scripts without spaces between words. */
const isUnspaced = (character) => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(character)
const canBreakAfter = (character, next = "") => !/^[、。，．！？」』）ー]/u.test(next)
  && (/^[\s\-–—\u200b]/u.test(character) && character !== "\u00a0" || isUnspaced(character) || isUnspaced(next))
/** The direction of a paragraph, which is that of its first letter; null for a text without letters. */
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const directionOf = (paragraph) => {
  const letter = /\p{L}/u.exec(paragraph)?.[0]
  return letter ? (rightToLeft.test(letter) ? "rtl" : "ltr") : null
}

/** The lines of characters in a width, as {from, to, direction}; `widthAt` is the width of a character by its index. */
function linesOf(characters, widthAt, room) {
  const lines = []
  let [start, used, breakAt] = [0, 0, 0]
  const end = (at) => {
    lines.push({ from: start, to: at, direction: null })
    start = at
  }
  characters.forEach((character, index) => {
    if (!/^\s/.test(character) && used + widthAt(index) > room && index > start) {
      end(breakAt > start ? breakAt : index)
      used = 0
      for (let each = start; each < index; each += 1) used += widthAt(each)
    }
    used += widthAt(index)
    if (character.includes("\n")) {
      end(index + 1)
      used = 0
    } else if (canBreakAfter(character, characters[index + 1])) breakAt = index + 1
  })
  if (start < characters.length) end(characters.length)
  let paragraph = 0
  for (const [index, { from, to }] of lines.entries()) {
    if (!characters[to - 1].includes("\n") && index < lines.length - 1) continue
    const direction = directionOf(characters.slice(lines[paragraph].from, to).join(""))
    for (; paragraph <= index; paragraph += 1) lines[paragraph].direction = direction
  }
  return lines
}

/**
 * Divides the texts of elements into lines and truncates them; returns the names and the rests of those that do not fit.
 *
 * Each step reads or writes all elements, so that the page is laid out twice in all. Text is drawn a little smaller or larger than
 * its size to have the phone's width in the fonts of this computer.
 */
export function layOut(parts) {
  const texts = parts.map(measured)
  for (const { part, natural, lineHeight } of texts) {
    part.style.lineHeight = lineHeight
    part.replaceChildren(natural)
  }
  for (const text of texts) text.room = parseFloat(getComputedStyle(text.part).width) + 0.5
  const truncated = texts.map(fill)
  for (const text of texts) text.scale = scaleOf(text)
  for (const { part, scale } of texts) part.style.setProperty("--drawn", scale)
  return truncated.filter(Boolean)
}

/** An element's characters with their widths in pixels, and an empty element as wide as its longest paragraph. */
function measured(part) {
  const { fontSize, fontWeight, lineHeight } = getComputedStyle(part)
  const isBody = part.classList.contains("body")
  const whole = isBody ? part.textContent : part.textContent.replace(/\s+/g, " ")
  const characters = charactersOf(whole.slice(0, 2 * maximumCharacters)).slice(0, maximumCharacters)
  const [size, isBold] = [parseFloat(fontSize), Number(fontWeight) >= 600]
  const known = new Map()
  const widthAt = (index) => {
    const character = characters[index]
    if (!known.has(character)) known.set(character, characterWidth(character, isBold) * size)
    return known.get(character)
  }
  const natural = element("i", { class: "natural" })
  const longest = linesOf(characters, widthAt, Infinity).map(({ from, to }) => sum(from, to, widthAt))
  natural.style.width = `${Math.max(0, ...longest)}px`
  return { part, whole, characters, widthAt, natural, lineHeight, ellipsis: characterWidth("…", true) * size + markPadding }
}

function sum(from, to, widthAt) {
  let all = 0
  for (let index = from; index < to; index += 1) all += widthAt(index)
  return all
}

/** Writes the lines of a text; returns the rest of it if it does not fit. */
function fill(text) {
  const { part, whole, characters, widthAt, natural, room, ellipsis } = text
  const lines = linesOf(characters, widthAt, room)
  const most = Number(part.dataset.lines) || lines.length
  const isCut = lines.length > most || whole.length > characters.join("").length
  text.lines = lines.slice(0, most)
  if (isCut && text.lines.length) {
    const last = text.lines.at(-1)
    last.to = last.from
    for (let used = ellipsis; last.to < characters.length && !characters[last.to].includes("\n"); last.to += 1) {
      used += widthAt(last.to)
      if (used > room) break
    }
    while (last.to > last.from && /^\s/.test(characters[last.to - 1])) last.to -= 1
    last.isCut = true
  }
  const mark = () => element("span", { class: "cut" }, "…")
  part.replaceChildren(...text.lines.map(({ from, to, direction, isCut: hasMark }) =>
    element("span", { class: "line", dir: direction }, characters.slice(from, to).join(""), hasMark ? mark() : null)), natural)
  return isCut && part.dataset.name
    ? { name: part.dataset.name, rest: [...characters.slice(text.lines.at(-1).to)].join("").trim() } : undefined
}

/** The size at which the fonts of this computer have the phone's widths and no line is wider than its element. */
function scaleOf({ part, lines, widthAt, room, ellipsis }) {
  const range = document.createRange()
  const unit = part.getBoundingClientRect().width / parseFloat(getComputedStyle(part).width)
  let [phone, here, most] = [0, 0, Infinity]
  for (const [index, { from, to, isCut }] of lines.entries()) {
    const { firstChild } = part.children[index]
    if (!firstChild || firstChild.nodeType !== Node.TEXT_NODE) continue
    range.selectNodeContents(firstChild)
    const drawn = range.getBoundingClientRect().width / (unit || 1)
    const width = sum(from, to, widthAt)
    if (!drawn || !width) continue
    phone += width
    here += drawn
    most = Math.min(most, Math.max(width, room - (isCut ? ellipsis : 0)) / drawn)
  }
  return here ? Math.min(phone / here, most) : 1
}
