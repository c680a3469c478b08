// SPDX-License-Identifier: Apache-2.0

// The language of fault rules: their actions with parameters, and their descriptions.

import { counted, grouped } from "./texts.js"

/** The actions of rules, each with a description and its parameters. */
export const actions = {
  respond: ["Return another response", ["reason", "status", "retry-after"]],
  delay: ["Delay the response", ["seconds", "jitter"]],
  hang: ["Send no response", []],
  "reset-stream": ["Reset the stream", ["code"]],
  goaway: ["Send GOAWAY", ["code", "debug-data", "includes-request"]],
  drain: ["Shut down the connection gracefully", ["debug-data"]],
  close: ["Close the connection", []],
  "reset-connection": ["Reset the connection", []],
  "refuse-connections": ["Close the next connections before the TLS handshake", ["limit"]],
  "limit-streams": ["Limit the concurrent streams of a connection", ["limit"]],
  "limit-window": ["Limit the flow-control window of streams, in octets", ["limit"]],
  "limit-errors": ["Send GOAWAY after this many refused pushes", ["limit"]],
  throttle: ["Limit the pushes per second to one device", ["limit"]],
  "skew-clock": ["Set the server’s clock ahead", ["seconds"]],
}
const number = { type: "number", step: "any" }
const integer = { type: "number", min: 0, step: 1 }
/** The parameters, with the labels and the attributes of their inputs. */
export const parameters = {
  reason: ["Reason", { list: "reasons", required: true, value: "ServiceUnavailable" }], status: ["Status", { ...integer, min: 200, max: 599 }],
  "retry-after": ["Retry-After", integer], seconds: ["Seconds", { ...number, required: true, value: 1 }], jitter: ["Random addition", { ...number, min: 0 }],
  code: ["HTTP/2 error code", integer], "debug-data": ["Debug data", { placeholder: '{"reason":"Shutdown"}' }],
  "includes-request": ["The push is processed", { type: "checkbox", checked: true }], limit: ["Limit", { ...integer, required: true, value: 1 }],
}
/** The conditions on pushes, with the labels of their inputs. */
export const matches = {
  topic: "Topic", "push-type": "Push type", priority: "Priority", "device-prefix": "Device token begins with", "device-suffix": "Device token ends with",
}
/** The conditions on frequency, with the labels, the attributes and the hints of their inputs. */
export const conditions = {
  probability: ["Probability", { ...number, min: 0, max: 1, placeholder: "1" }, "0.5: half of the pushes, by chance"],
  every: ["Interval in pushes", { ...integer, min: 1, placeholder: "1" }, "5: every fifth push"],
  after: ["Pushes to skip first", { ...integer, placeholder: "0" }, "100: not the first hundred"],
  count: ["Maximum number of times", { ...integer, placeholder: "no limit" }, "3: three pushes, then no more"],
}
export const reasons = [
  "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredProviderToken", "InvalidProviderToken",
  "TooManyProviderTokenUpdates", "TopicDisallowed", "PayloadTooLarge", "TooManyRequests", "InternalServerError",
  "ServiceUnavailable", "Shutdown", "IdleTimeout",
]

/** The names of the error codes of HTTP/2 (RFC 9113 §7), by number. */
const errorCodes = [
  "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
  "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
]
const errorCode = (code) => (errorCodes[code] ? `the error code ${errorCodes[code]} (${code})` : `the error code ${code}`)
const debugText = (data) => (data ? `, with the debug data ${data}` : "")

const connections = (count) => (count === 1 ? "The next connection is" : `The next ${counted(count, "connection")} are`)

/** The sentences about the actions of rules. */
const sentences = {
  respond: ({ status, reason, "retry-after": retryAfter }) =>
    `The response is ${[status, reason].filter(Boolean).join(" ")}${retryAfter === undefined ? "" : `, with Retry-After: ${retryAfter}`}`,
  delay: ({ seconds, jitter = 0 }) => `The response comes after ${seconds}${jitter ? ` to ${Number((seconds + jitter).toFixed(3))}` : ""} s`,
  hang: () => "There is no response",
  "reset-stream": ({ code = 7 }) => `The stream is reset with ${errorCode(code)}`,
  goaway: ({ code = 0, "debug-data": data, "includes-request": includesRequest = true }) =>
    `The connection ends with GOAWAY${code ? ` and ${errorCode(code)}` : ""}${debugText(data)}${includesRequest ? "" : ", and the push is not processed"}`,
  drain: ({ "debug-data": data }) => `The connection shuts down gracefully${debugText(data)}`,
  close: () => "The connection is closed",
  "reset-connection": () => "The connection is reset",
  "refuse-connections": ({ limit }) => `${connections(limit)} closed before the TLS handshake`,
  "limit-streams": ({ limit }) => `A connection may have ${counted(limit, "stream")} open`,
  "limit-window": ({ limit }) => `A client may send ${counted(limit, "octet")} on a stream before it must wait`,
  "limit-errors": ({ limit }) => `The connection ends with GOAWAY after ${counted(limit, "refused push")}`,
  throttle: ({ limit }) => `A device gets 429 TooManyRequests after ${counted(limit, "push")} in a second`,
  "skew-clock": ({ seconds }) => `The server’s clock is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead"}`,
}

/** The action of a rule in a sentence. */
export const action = (rule) => sentences[rule.do]?.(rule) ?? rule.do

/** The conditions on pushes as text, with their values. */
const conditionTexts = {
  topic: "with the topic", "push-type": "of the push type", priority: "with the priority", "device-prefix": "to device tokens that begin with",
  "device-suffix": "to device tokens that end with",
}

/** The pushes that a rule affects, as text. */
export function scope(rule) {
  const which = rule.every > 1 ? `every ${rule.every}${["th", "st", "nd", "rd"][rule.every % 100 > 10 && rule.every % 100 < 14 ? 0 : rule.every % 10] ?? "th"} push`
    : "every push"
  return [
    which, rule.probability === undefined ? "" : `with a probability of ${Number((rule.probability * 100).toPrecision(6))} %`, rule.after ? `after the first ${grouped(rule.after)}` : "",
    rule.count === undefined ? "" : `at most ${rule.count === 1 ? "once" : `${grouped(rule.count)} times`}`,
    ...Object.entries(rule.match ?? {}).map(([name, value]) => `${conditionTexts[name]} ${value}`),
  ].filter(Boolean).join(", ")
}

/** Whether a rule may have affected a push. */
export function affects(rule, push) {
  const { topic, "push-type": type, priority, "device-prefix": prefix, "device-suffix": suffix } = rule.match ?? {}
  const token = push["device-token"]?.toLowerCase() ?? ""
  return push.fault === rule.do && (topic === undefined || push.headers["apns-topic"] === topic)
    && (type === undefined || push.headers["apns-push-type"] === type) && (priority === undefined || push.headers["apns-priority"] === priority)
    && (prefix === undefined || token.startsWith(prefix.toLowerCase())) && (suffix === undefined || token.endsWith(suffix.toLowerCase()))
}

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)
