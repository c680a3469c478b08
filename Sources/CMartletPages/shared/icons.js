// SPDX-License-Identifier: Apache-2.0

// The icons of the pages: lines of 1.5 px on a grid of 16 px, in the colour of the text around them.

import { svgElement } from "./dom.js"

const paths = {
  martlet: "M1.5 5.5c3.2-.4 4.9.9 6.2 3.3C9 6.1 11 4.4 14.5 4c-1.5 1-2.3 3.8-6.3 8.5C6 10 4.5 7.5 1.5 5.5z",
  bell: "M8 2a4 4 0 0 0-4 4c0 3.5-1.5 4.5-1.5 5.5h11C13.5 10.5 12 9.5 12 6a4 4 0 0 0-4-4zM6.5 13.5a1.6 1.6 0 0 0 3 0",
  badge: "M8 3.5h-4.5v9h9v-4.5M12 2a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  pass: "M3 2.5h10v11h-10zM3 6.5h10M5.5 10h5",
  silent: "M13.5 9.5A5.7 5.7 0 0 1 6.5 2.5a5.7 5.7 0 1 0 7 7z",
  activity: "M1.5 8.5h3l2-5 3 9 2-4h3",
  broadcast: "M8 9.5v4M5.2 10a4 4 0 1 1 5.6 0M3.1 12.1a7 7 0 1 1 9.8 0M8 7.2h.01",
  widget: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z",
  control: "M5 4.5h6a3.5 3.5 0 0 1 0 7h-6a3.5 3.5 0 0 1 0-7zM11 6.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  call: "M3 2.5h2.5l1 3-1.5 1.2a8 8 0 0 0 4.3 4.3l1.2-1.5 3 1v2.5c0 .5-.5 1-1 1A10.5 10.5 0 0 1 2 3.5c0-.5.5-1 1-1z",
  location: "M8 14s4.5-4.3 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.7 8 14 8 14zM8 5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  push: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
  device: "M5 1.5h6a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM7.2 12.5h1.6",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3l3.2 3.2",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  compose: "M7.5 3h-5v10.5h10.5v-5M12 2.5l1.5 1.5-6 6-2 .5.5-2z",
  send: "M14 2 7 9M14 2 9.5 14 7 9 2 6.5z",
  trash: "M2.5 4h11M6 4v-1.5h4v1.5M4 4l.7 9.5h6.6l.7-9.5M6.5 6.5v4.5M9.5 6.5v4.5",
  download: "M8 2.5v7.5M5 7.5l3 3 3-3M2.5 13.5h11",
  upload: "M8 10.5v-7.5M5 5.5l3-3 3 3M2.5 13.5h11",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4l-1.2 1.2M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4l1.2-1.2",
  check: "M3 8.5l3.5 3.5 6.5-8",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  plus: "M8 3v10M3 8h10",
  more: "M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z",
  left: "M10 3 5 8l5 5", right: "M6 3l5 5-5 5", down: "M3 6l5 5 5-5", up: "M3 10l5-5 5 5",
  error: "M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8h-5.4l-3.8-3.8v-5.4zM8 4.5v4M8 11h.01",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12h.01",
  info: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 7.5v4M8 5h.01",
  shown: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM5 8.2l2.2 2.2 3.8-4.6",
  stored: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.5v3.7l2.5 1.5",
  hidden: "M1.5 8s2.5-4.5 6.5-4.5S14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM2.5 13.5l11-11",
  replaced: "M2.5 6.5a5.5 5.5 0 0 1 10-1.5M13.5 9.5a5.5 5.5 0 0 1-10 1.5M13 2v3h-3M3 14v-3h3",
  pin: "M5.5 2h5l-.7 4.5 2.2 2.5h-8l2.2-2.5zM8 9v5",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.5 5.5h.01",
  compare: "M6.5 2.5h-4v11h4M9.5 2.5h4v11h-4M8 1v14",
  replay: "M3 8a5 5 0 1 0 1.7-3.7M3 2v3h3",
  pause: "M5.5 3v10M10.5 3v10", play: "M4.5 2.5l9 5.5-9 5.5z",
  lock: "M3.5 7.5h9v6.5h-9zM5.5 7.5v-2.5a2.5 2.5 0 0 1 5 0v2.5",
  server: "M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.7h.01M5 11.2h.01",
  help: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM6 6.3a2 2 0 1 1 2.8 1.9c-.5.2-.8.6-.8 1.3M8 11.5h.01",
}

/** An icon by its name; it is hidden from screen readers, so the element around it needs a name. */
export function icon(name, size = 16) {
  const made = svgElement("svg", {
    viewBox: "0 0 16 16", width: size, height: size, fill: "none", stroke: "currentColor", "stroke-width": 1.5,
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true",
  })
  made.append(svgElement("path", { d: paths[name] ?? paths.push }))
  return made
}

const kinds = {
  alert: "bell", silent: "silent", background: "silent", activity: "activity", broadcast: "broadcast", widgets: "widget",
  badge: "badge", pass: "pass", controls: "control", voip: "call", pushtotalk: "call", location: "location", complication: "widget",
}

/** The name of the icon for a kind of push, as `kind` in push.js returns it. */
export const kindIcon = (kind) => kinds[kind] ?? "push"
