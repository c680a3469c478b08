// SPDX-License-Identifier: Apache-2.0

// A push in the formats of other tools, with its payload unchanged.

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

export function curl(push, text, origin) {
  const path = push.channel === undefined ? `/3/device/${push["device-token"]}` : `/4/broadcasts/apps/${push.app}`
  const headers = Object.entries(push.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  if (push.channel !== undefined) headers.push(`-H ${quoted(`apns-channel-id: ${push.channel}`)}`)
  const protocol = origin.startsWith("https") ? '--http2 --cacert "$(martlet ca path)"' : "--http2-prior-knowledge"
  return [`curl ${protocol} -H "authorization: bearer $(martlet token)"`, ...headers,
    `--data-binary ${quoted(text)}`, quoted(origin + path)].join(" \\\n  ")
}

export function swift(push, text) {
  const literal = `#"""\n${text}\n"""#`
  const type = push.headers["apns-push-type"]
  return `try await client.send(
    .opaque(Array(${literal}.utf8), pushType: ${type ? `PushType(rawValue: ${JSON.stringify(type)})` : "nil"}),
    to: DeviceToken(hex: ${JSON.stringify(push["device-token"] ?? "")}),
    topic: ${JSON.stringify(push.headers["apns-topic"] ?? "")}
)`
}

/** A file for `xcrun simctl push`. */
export function simulatorFile(push) {
  const topic = push.app ?? push.headers["apns-topic"]
  return JSON.stringify({ "Simulator Target Bundle": topic, ...push.payload }, null, 2)
}
