// SPDX-License-Identifier: Apache-2.0

// Example pushes for the composer.

import { broadcastByteLimit, payloadByteLimit, pushTypes } from "./push-types.js"
import { kind } from "./push.js"

/** The names of the push types. */
export const types = Object.keys(pushTypes)

/** The topic of an app's pushes of a type. */
export const topic = (app, type) => app + (pushTypes[type]?.topicSuffix ?? "")

/** The maximum number of bytes in the payload of a push of a type, or of a broadcast. */
export const byteLimit = (type, isBroadcast) =>
  isBroadcast ? broadcastByteLimit : pushTypes[type]?.payloadByteLimit ?? payloadByteLimit

const now = () => Math.floor(Date.now() / 1000)
const activity = (aps) => ({ type: "liveactivity", payload: () => ({ aps: { timestamp: now(), ...aps } }) })
const state = (status, minutesLeft, progress) => ({ "content-state": { status, minutesLeft, progress } })

export const examples = {
  "Alert": { type: "alert", priority: "10", payload: () => ({
    aps: { alert: { title: "Order ready", body: "Table 7 is waiting." }, sound: "default", "thread-id": "order-42" },
    deepLink: "app://orders/42",
  }) },
  "Silent": { type: "background", priority: "5", payload: () => ({ aps: { "content-available": 1 }, order: 42 }) },
  "Time-sensitive": { type: "alert", priority: "10", payload: () => ({
    aps: { alert: { title: "Your courier is here" }, "interruption-level": "time-sensitive", "relevance-score": 1 },
  }) },
  "Start activity": activity({
    event: "start", "attributes-type": "OrderAttributes", attributes: { order: 42 }, ...state("In the kitchen", 20, 0.1),
    alert: { title: "Order 42", body: "It is in the kitchen." },
  }),
  "Update activity": { ...activity({ event: "update", ...state("On its way", 8, 0.6) }), priority: "5" },
  "End activity": { ...activity({ event: "end", "dismissal-date": now() + 600, ...state("Delivered", 0, 1) }), priority: "5" },
  "Broadcast": { ...activity({ event: "update", ...state("The kitchen is busy", 25, 0.1) }), isBroadcast: true, priority: "5",
    expiration: "0" },
  "Widget": { type: "widgets", payload: () => ({ aps: { "content-changed": true } }) },
  "Control": { type: "controls", payload: () => ({ aps: { "content-changed": true } }) },
  "Call": { type: "voip", priority: "10", payload: () => ({ aps: {}, caller: "Ada" }) },
}

/** The values of a received push, for the composer. */
export function fromPush(push, text) {
  const { headers } = push
  return {
    type: headers["apns-push-type"] ?? "", topic: headers["apns-topic"] ?? "", priority: headers["apns-priority"] ?? "",
    expiration: headers["apns-expiration"] ?? "", collapse: headers["apns-collapse-id"] ?? "", text,
    isBroadcast: kind(push) === "broadcast", token: push["device-token"] ?? "", app: push.app ?? "", channel: push.channel ?? "",
  }
}
