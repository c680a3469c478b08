// SPDX-License-Identifier: Apache-2.0

// A push in the formats of other tools, with its payload unchanged.

import { info } from "./api.js"
import { serverURL } from "./dom.js"

export { swift } from "./swift-code.js"

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** A shell command that sends a push to the simulator, which accepts every signing key. */
export async function curl(push, text) {
  const { apns, authority } = await info()
  const path = push.channel === undefined ? `/3/device/${push["device-token"]}` : `/4/broadcasts/apps/${push.app}`
  const headers = Object.entries(push.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  if (push.channel !== undefined) headers.push(`-H ${quoted(`apns-channel-id: ${push.channel}`)}`)
  // The simulator serves its certificate, whose file may be unknown or relative to another directory.
  const certificate = authority?.startsWith("/") ? quoted(authority) : `<(curl -s ${quoted(serverURL("/api/v1/ca.pem"))})`
  const protocol = apns.startsWith("https") ? `--http2 --cacert ${certificate}` : "--http2-prior-knowledge"
  return [`curl ${protocol} -H "authorization: bearer $(martlet token)"`, ...headers,
    `--data-raw ${quoted(text)}`, quoted(apns + path)].join(" \\\n  ")
}

/** A file for `xcrun simctl push`. */
export function simulatorFile(push, text) {
  const topic = JSON.stringify(push.app ?? push.headers["apns-topic"] ?? "")
  const members = text.slice(text.indexOf("{") + 1)
  return `{\n  "Simulator Target Bundle": ${topic}${/^\s*\}/.test(members) ? members.trimStart() : `, ${members}`}`
}
