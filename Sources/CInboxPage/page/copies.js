// A push in the words of other tools.

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** The payload as it came, as text. */
export function payloadText(push) {
  return push["payload-text"] ?? JSON.stringify(push.payload)
}

export function curl(push, origin) {
  const path = push.channel === undefined ? `/3/device/${push["device-token"]}` : `/4/broadcasts/apps/${push.app}`
  const headers = Object.entries(push.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  if (push.channel !== undefined) headers.push(`-H ${quoted(`apns-channel-id: ${push.channel}`)}`)
  return [`curl --http2 -H "authorization: bearer $(martlet token)"`, ...headers,
    `-d ${quoted(payloadText(push))}`, quoted(origin + path)].join(" \\\n  ")
}

export function swift(push) {
  const literal = `#"""\n${payloadText(push)}\n"""#`
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
