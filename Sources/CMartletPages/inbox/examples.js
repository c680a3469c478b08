// SPDX-License-Identifier: Apache-2.0

// Example pushes for the composer: each push type, and the variants of alerts, with sample data.

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
const alert = (aps, data = {}) => ({ type: "alert", priority: "10", payload: () => ({ aps, ...data }) })
const activity = (aps) => ({ type: "liveactivity", payload: () => ({ aps: { timestamp: now(), ...aps() } }) })
const state = (status, minutesLeft, progress) => ({ "content-state": { status, minutesLeft, progress } })
const of = (type, payload, priority = "10") => ({ type, priority, payload: () => payload })

/** The examples by group. */
export const exampleGroups = {
  "Alerts": {
    "Alert": alert({ alert: { title: "Order ready", body: "Table 7 is waiting." }, sound: "default", badge: 1, "thread-id": "order-42" }, { deepLink: "app://orders/42" }),
    "Time-sensitive": alert({ alert: { title: "Your courier is here" }, "interruption-level": "time-sensitive", "relevance-score": 1 }),
    "Critical": alert({ alert: { title: "Smoke in the kitchen", body: "Leave the building." }, "interruption-level": "critical", sound: { critical: 1, name: "default", volume: 0.8 } }),
    "Passive": alert({ alert: { title: "Weekly summary", body: "You saved 12 orders." }, "interruption-level": "passive" }),
    "Localized": alert({ alert: { "title-loc-key": "ORDER_READY", "title-loc-args": ["42"], "loc-key": "TABLE_WAITS", "loc-args": ["7"] }, sound: "default" }),
    "Attachment": alert({ alert: { title: "Photo of your parcel", body: "It is at the door." }, "mutable-content": 1, sound: "default" }, { imageURL: "https://example.com/parcel.jpg" }),
    "Actions": alert({ alert: { title: "Table for four at 7 pm?", body: "Ada invites you." }, category: "INVITATION", sound: "default" }, { invitation: "i-17" }),
    "Badge": alert({ badge: 3 }),
  },
  "Live Activities": {
    "Start activity": activity(() => ({
      event: "start", "attributes-type": "OrderAttributes", attributes: { order: 42 }, ...state("In the kitchen", 20, 0.1),
      alert: { title: "Order 42", body: "It is in the kitchen." },
    })),
    "Update activity": { ...activity(() => ({ event: "update", ...state("On its way", 8, 0.6) })), priority: "5" },
    "End activity": { ...activity(() => ({ event: "end", "dismissal-date": now() + 600, ...state("Delivered", 0, 1) })), priority: "5" },
    "Broadcast": { ...activity(() => ({ event: "update", ...state("The kitchen is busy", 25, 0.1) })), isBroadcast: true, priority: "5", expiration: "0" },
  },
  "Without a notification": {
    "Silent": of("background", { aps: { "content-available": 1 }, order: 42 }, "5"),
    "Widget": of("widgets", { aps: { "content-changed": true } }),
    "Control": of("controls", { aps: { "content-changed": true } }),
    "Complication": of("complication", { steps: 8400, goal: 10000 }),
    "Location": of("location", { query: "q-17" }),
    "File provider": of("fileprovider", { "container-identifier": "NSFileProviderWorkingSetContainerItemIdentifier" }),
    "MDM": { ...of("mdm", { mdm: "5B1F7A10-0F29-4C0D-9F6C-8E0C6B2A1D11" }), topic: "com.apple.mgmt.External.5b1f7a10" },
  },
  "Calls": {
    "Call": { ...of("voip", { caller: "Ada Lovelace", handle: "+44 20 7946 0000" }), expiration: "0" },
    "Push to Talk": { ...of("pushtotalk", { activeSpeaker: "Ada" }), expiration: "0" },
  },
}
/** The examples by name. */
export const examples = Object.assign({}, ...Object.values(exampleGroups))

/** The values of a received push, for the composer. */
export function fromPush(push, text) {
  const { headers } = push
  return {
    number: push.number, type: headers["apns-push-type"] ?? "", topic: headers["apns-topic"] ?? "", priority: headers["apns-priority"] ?? "",
    expiration: headers["apns-expiration"] ?? "", collapse: headers["apns-collapse-id"] ?? "", text,
    isBroadcast: kind(push) === "broadcast", token: push["device-token"] ?? "", app: push.app ?? "", channel: push.channel ?? "",
  }
}
