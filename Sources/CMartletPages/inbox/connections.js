// SPDX-License-Identifier: Apache-2.0

// The open and closed connections, and one connection with its protocol, provider token and responses.

import { request } from "./api.js"
import { absoluteTime, banner, chip, emptyState, facts, relativeTime, table } from "./components.js"
import { element } from "./dom.js"
import { newestPushes, now, Page, replaceKeepingFocus, rowsOr, section } from "./pages.js"
import { headline } from "./push.js"
import { isRefused, refusal } from "./refusals.js"
import { counted, durationText, grouped } from "./texts.js"
import { verdictLine } from "./verdict.js"

/** The number of refused and unanswered pushes that are searched for those of a connection. */
const failedRead = 500
const address = ({ id }) => `#/connections/${id}`
const fetchConnections = (signal) => request("/api/v1/connections", "GET", undefined, signal)

export const open = (container, [id]) => (id ? openConnection(container, Number(id)) : openList(container))

function openList(container) {
  const page = new Page(container, {
    title: "Connections",
    lead: "Apple recommends few, long-lived connections, one provider token on each, and a new token at most every 20 minutes.",
  })
  return page.follow(fetchConnections, ({ open, closed, "open-count": count, "closed-count": closedCount, "failed-count": failedCount }) => {
    page.showCount(`${grouped(count)} open`)
    const refused = closed.filter(isRefused)
    if (!open.length && !closed.length) {
      return replaceKeepingFocus(page.body, emptyState("server", "No connections yet", "A connection appears here when a client connects.",
        element("a", { class: "button", href: "#/connect" }, "Connect a client")))
    }
    return replaceKeepingFocus(page.body, element("div", { class: "stack" },
      refused.length ? refusedBanner(refused[0], failedCount) : null,
      section(`Open: ${grouped(count)}`, rowsOr(open, "No open connections.", () => connectionTable("Open connections", open))),
      section(`Closed: ${closedCount > closed.length ? `the last ${grouped(closed.length)} of ${grouped(closedCount)}` : grouped(closed.length)}`,
        rowsOr(closed, "No closed connections yet.", () => connectionTable("Closed connections", closed)))))
  })
}

/** A message about the failed connections, with the remedy of the latest. */
function refusedBanner(latest, count) {
  const { cause, remedy } = refusal(latest)
  return banner("bad", [
    element("strong", {}, `${counted(count, "connection")} failed before the first request. `), `The latest, `, relativeTime(latest.closed.time * 1000), `: ${cause} `,
    ...remedy, " ", element("a", { href: address(latest) }, "Details"),
  ])
}

function connectionTable(name, connections) {
  return table(name, [
    { name: "Connection", isHeader: true, value: (each) => element("a", { href: address(each) }, `#${each.id}`) },
    { name: "Client", value: client },
    { name: "State", value: state },
    { name: "Protocol", value: ({ tls, ...each }) => chip(tls ? tls.version : each["handshake-failed"] ? "no TLS agreed" : "HTTP/2 without TLS") },
    { name: "Opened", value: ({ opened }) => relativeTime(opened * 1000) },
    { name: "Streams, peak", isNumber: true, value: (each) => `${each["streams-open"]}, ${each["streams-most"]}` },
    { name: "Pushes", isNumber: true, value: ({ requests }) => grouped(requests) },
    { name: "Responses", value: ({ answers, unanswered }) => element("span", { class: "chips" }, responses(answers, unanswered)) },
    ...(connections[0]?.closed ? [{ name: "Reason", value: closing }] : []),
  ], connections, (each) => ({ "data-key": `${each.id}`, "data-href": address(each) }))
}

/** When and why a connection was closed. */
const closing = (each) => element("span", { class: "faint" }, relativeTime(each.closed.time * 1000), ": ",
  isRefused(each) ? refusal(each).cause : each.closed.reason.replace(each.peer, "the client"))

/** The name of the client, as far as it has sent one, or its address. */
const client = ({ peer, port, "user-agent": agent }) => element("span", { class: "named" },
  element("span", agent ? {} : { class: "token" }, agent ?? peer),
  element("small", {}, [agent ? peer : "", port === "channels" ? "port of channels" : ""].filter(Boolean).join(", ")))

function state(each) {
  if (isRefused(each)) return chip("failed", "bad")
  return each.closed ? chip("closed") : chip("open", "good")
}

const responses = (answers, unanswered) => [
  ...Object.entries(answers).filter(([status]) => status !== "0").map(([status, count]) =>
    chip(`${grouped(count)} × ${status}`, status.startsWith("2") ? "good" : "bad")),
  unanswered ? chip(`${grouped(unanswered)} not answered`, "bad") : "",
]

function openConnection(container, id) {
  const page = new Page(container, { title: `Connection ${id}`, back: { name: "Connections", href: "#/connections" } })
  // Durations change without an event: refresh them every ten seconds.
  return page.follow(async (signal) => {
    const { open, closed } = await fetchConnections(signal)
    const failed = await newestPushes("-is:accepted", failedRead, signal)
    return {
      connection: [...open, ...closed].find((each) => each.id === id) ?? null, failed: failed.filter(({ connection }) => connection === id),
      tick: Math.floor(now() / 10),
    }
  }, ({ connection, failed }) => replaceKeepingFocus(page.body, connection ? details(connection, failed)
    : emptyState("server", "No such connection", `Connection ${id} is not among the open connections and the last 100 closed ones.`)))
}

function details(connection, failed) {
  const { peer, port, closed, answers, unanswered } = connection
  const reason = closed?.reason.replace(peer, "the client")
  const until = closed?.time ?? now()
  return element("div", { class: "stack" },
    element("div", { class: "state-bar" }, state(connection), responses(answers, unanswered)),
    isRefused(connection) ? failure(connection) : null, element("div", { class: "columns" }, section("Connection", facts({
      client: element("span", { class: "token" }, peer), "user agent": connection["user-agent"], port,
      opened: [absoluteTime(connection.opened * 1000), `, open for ${durationText(until - connection.opened)}`],
      closed: closed ? [absoluteTime(closed.time * 1000), `: ${reason}`] : null,
      protocol: protocol(connection),
      "provider token": token(connection["provider-token"], until),
      certificate: certificate(connection.certificate),
    })),
    section("Traffic", facts({
      streams: `${connection["streams-open"]} open, ${connection["streams-most"]} at peak`,
      "refused streams": `${connection["streams-refused"]} refused, ${connection["streams-reset"]} reset by the client`,
      requests: `${grouped(connection.requests)}, ${grouped(connection["requests-malformed"])} malformed`,
      "GOAWAY sent": goAway(connection["goaway-sent"]),
      "GOAWAY received": goAway(connection["goaway-received"]),
    }))), failed.length ? section("Refused and unanswered pushes", failures(failed)) : null)
}

const failures = (pushes) => table("Refused and unanswered pushes", [
  { name: "Push", isHeader: true, value: (push) => element("a", { href: `#/push/${push.number}` }, headline(push)) },
  { name: "Outcome", value: verdictLine },
  { name: "Received", value: ({ time }) => relativeTime(time * 1000) },
], pushes, ({ number }) => ({ "data-key": `failed ${number}`, "data-href": `#/push/${number}` }))

function failure(connection) {
  const { cause, remedy } = refusal(connection)
  return banner("bad", [element("strong", {}, "The connection failed. "), `${cause} `, ...remedy])
}

function protocol({ tls, "handshake-failed": hasFailed }) {
  if (!tls) return hasFailed ? "none negotiated" : "HTTP/2 without TLS, with prior knowledge"
  return tls.alpn ? `HTTP/2 over ${tls.version}, by ALPN` : `${tls.version}, HTTP/2 without ALPN`
}

function token(claims, at) {
  if (!claims) return null
  const age = at - claims["issued-at"]
  const when = age < 0 ? `issued ${durationText(-age)} in the future` : `${durationText(age)} old`
  const isOld = age > 3600
  return [element("span", { class: "token" }, `key ${claims["key-id"]}, team ${claims["team-id"]}`), `, ${when} `,
    isOld ? chip("expired: older than one hour", "bad") : ""]
}

function certificate(content) {
  if (!content) return null
  const environments = [content.development ? "development" : "", content.production ? "production" : ""].filter(Boolean)
  return `${content.topics.join(", ") || "no topics"} for ${environments.join(" and ") || "neither environment"}`
}

function goAway(frame) {
  return frame ? `${frame.code}, last stream ${frame["last-stream"]} ${frame["debug-data"]}` : null
}
