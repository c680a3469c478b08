// Who is connected, how, and what they were answered; and who was.

import { ask } from "./api.js"
import { element } from "./dom.js"
import { clock, duration, facts, heading, now, pill, refreshed, renew } from "./pages.js"

export function open(place) {
  const list = element("div", {})
  place.replaceChildren(
    heading("Connections", `Apple wants few connections that stay open for long, one provider token on each, and a new
      token no more often than every 20 minutes.`),
    list)
  // Times move on though nothing else does.
  const minute = () => Math.floor(now() / 10)
  return refreshed(async () => ({ ...(await ask("/api/v1/connections")), minute: minute() }), (value, error) => {
    if (!value) return renew(list, element("p", { class: "notice" }, error.message))
    return renew(list,
      element("h3", {}, `Open: ${value["open-count"]}`),
      value.open.length ? value.open.map(row) : element("p", { class: "empty" }, "Nobody is connected."),
      element("h3", {}, `Closed: ${value.closed.length === 100 ? "the last 100" : value.closed.length}`),
      value.closed.length ? value.closed.map(row) : element("p", { class: "empty" }, "Nobody has left yet."))
  }).end
}

function row(connection, index) {
  const { id, peer, port, tls, closed, answers, "handshake-failed": hasFailed } = connection
  const why = closed?.reason.replace(peer, "the client")
  return element("details", {
    class: "row-card", "data-key": `${id} ${peer} ${connection.opened}`, "data-index": index,
  },
    element("summary", {},
      element("strong", {}, hasFailed ? "No connection" : `Connection ${id}`), element("span", { class: "token" }, peer),
      pill(tls ? tls.version : hasFailed ? "handshake failed" : "in the clear", tls ? "good" : hasFailed ? "bad" : ""),
      ...Object.entries(answers).map(([status, count]) =>
        pill(`${count} × ${status === "0" ? "no answer" : status}`, status.startsWith("2") ? "good" : "bad")),
      element("span", { class: "faint" }, closed
        ? `closed ${clock(closed.time)}: ${why}` : `open for ${duration(now() - connection.opened)}`)),
    facts({
      opened: clock(connection.opened),
      port,
      protocol: protocol(connection),
      "provider token": token(connection["provider-token"], closed?.time ?? now()),
      certificate: certificate(connection.certificate),
      streams: `${connection["streams-open"]} open, ${connection["streams-most"]} at most,
        ${connection["streams-refused"]} refused, ${connection["streams-reset"]} reset by the client`,
      requests: `${connection.requests}, ${connection["requests-malformed"]} malformed`,
      "GOAWAY sent": goAway(connection["goaway-sent"]),
      "GOAWAY received": goAway(connection["goaway-received"]),
      closed: closed ? `${clock(closed.time)}, after ${duration(closed.time - connection.opened)}: ${why}` : "",
    }))
}

function protocol({ tls, "handshake-failed": hasFailed }) {
  if (!tls) return hasFailed ? "none was agreed on" : "HTTP/2 in the clear, with prior knowledge"
  return tls.alpn ? `HTTP/2 over ${tls.version}, by ALPN` : `${tls.version}, HTTP/2 without ALPN`
}

function token(claims, at) {
  if (!claims) return null
  const age = at - claims["issued-at"]
  const when = age < 0 ? `issued ${duration(-age)} ahead` : `${duration(age)} old`
  const isOld = age > 3600
  return [element("span", { class: "token" }, `key ${claims["key-id"]}, team ${claims["team-id"]}`), `, ${when} `,
    isOld ? pill("too old: an hour at most", "bad") : ""]
}

function certificate(facts) {
  if (!facts) return null
  const worlds = [facts.development ? "development" : "", facts.production ? "production" : ""].filter(Boolean)
  return `${facts.topics.join(", ") || "no topics"} for ${worlds.join(" and ") || "neither environment"}`
}

function goAway(frame) {
  return frame ? `${frame.code}, last stream ${frame["last-stream"]} ${frame["debug-data"]}` : null
}
