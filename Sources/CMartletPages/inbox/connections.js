// SPDX-License-Identifier: Apache-2.0

// Open and closed connections, with their protocol, provider token and responses.

import { request } from "./api.js"
import { facts } from "./components.js"
import { element } from "./dom.js"
import { clock, duration, heading, now, pill, refreshed, replaceKeepingFocus } from "./pages.js"

export function open(container) {
  const list = element("div", {})
  container.replaceChildren(
    heading("Connections", `Apple recommends few long-lived connections. Use one provider token on each, and replace it
      at most every 20 minutes.`),
    list)
  // Durations change without an event: refresh them every 10 seconds.
  const tick = () => Math.floor(now() / 10)
  return refreshed(async () => ({ ...(await request("/api/v1/connections")), tick: tick() }), (value, error) => {
    if (!value) return replaceKeepingFocus(list, element("p", { class: "notice" }, error.message))
    return replaceKeepingFocus(list,
      element("h3", {}, `Open: ${value["open-count"]}`),
      value.open.length ? value.open.map(row) : element("p", { class: "empty" }, "No open connections."),
      element("h3", {}, `Closed: ${value.closed.length === 100 ? "the last 100" : value.closed.length}`),
      value.closed.length ? value.closed.map(row) : element("p", { class: "empty" }, "No closed connections yet."))
  }).end
}

function row(connection, index) {
  const { id, peer, port, tls, closed, answers, "handshake-failed": hasFailed } = connection
  const reason = closed?.reason.replace(peer, "the client")
  return element("details", {
    class: "row-card", "data-key": `${id} ${peer} ${connection.opened}`, "data-index": index,
  },
    element("summary", {},
      element("strong", {}, hasFailed ? "Failed connection" : `Connection ${id}`), element("span", { class: "token" }, peer),
      pill(tls ? tls.version : hasFailed ? "handshake failed" : "no TLS", tls ? "good" : hasFailed ? "bad" : ""),
      ...Object.entries(answers).map(([status, count]) =>
        pill(`${count} × ${status === "0" ? "no response" : status}`, status.startsWith("2") ? "good" : "bad")),
      element("span", { class: "faint" }, closed
        ? `closed ${clock(closed.time)}: ${reason}` : `open for ${duration(now() - connection.opened)}`)),
    facts({
      opened: clock(connection.opened),
      port,
      protocol: protocol(connection),
      "provider token": token(connection["provider-token"], closed?.time ?? now()),
      certificate: certificate(connection.certificate),
      streams: `${connection["streams-open"]} open, ${connection["streams-most"]} at peak,
        ${connection["streams-refused"]} refused, ${connection["streams-reset"]} reset by the client`,
      requests: `${connection.requests}, ${connection["requests-malformed"]} malformed`,
      "GOAWAY sent": goAway(connection["goaway-sent"]),
      "GOAWAY received": goAway(connection["goaway-received"]),
      closed: closed ? `${clock(closed.time)}, after ${duration(closed.time - connection.opened)}: ${reason}` : "",
    }))
}

function protocol({ tls, "handshake-failed": hasFailed }) {
  if (!tls) return hasFailed ? "none negotiated" : "HTTP/2 without TLS, with prior knowledge"
  return tls.alpn ? `HTTP/2 over ${tls.version}, by ALPN` : `${tls.version}, HTTP/2 without ALPN`
}

function token(claims, at) {
  if (!claims) return null
  const age = at - claims["issued-at"]
  const when = age < 0 ? `issued ${duration(-age)} in the future` : `${duration(age)} old`
  const isOld = age > 3600
  return [element("span", { class: "token" }, `key ${claims["key-id"]}, team ${claims["team-id"]}`), `, ${when} `,
    isOld ? pill("expired: older than one hour", "bad") : ""]
}

function certificate(content) {
  if (!content) return null
  const environments = [content.development ? "development" : "", content.production ? "production" : ""].filter(Boolean)
  return `${content.topics.join(", ") || "no topics"} for ${environments.join(" and ") || "neither environment"}`
}

function goAway(frame) {
  return frame ? `${frame.code}, last stream ${frame["last-stream"]} ${frame["debug-data"]}` : null
}
