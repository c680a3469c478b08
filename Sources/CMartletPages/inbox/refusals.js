// SPDX-License-Identifier: Apache-2.0

// The causes for which a client does not get as far as a request, with what to change at the client.

import { element } from "./dom.js"

const connect = (text) => element("a", { href: "#/connect" }, text)

/** The causes by the reasons that the simulator reports; the first that matches applies. */
const causes = [
  [/alert unknown ca/, "The client does not trust the certificate authority of the simulator.",
    () => ["Give it the file ca.pem: see ", connect("Connect"), "."]],
  [/does not trust/, "The client rejected the certificate of the simulator.",
    () => ["Give it the file ca.pem (", connect("Connect"), "), and start the simulator with --name for the host name that the client uses."]],
  [/no application protocol|did not select HTTP\/2/, "The client did not offer HTTP/2.",
    () => ["Enable HTTP/2 in the client: APNs has no HTTP/1.1, and clients offer h2 by ALPN."]],
  [/unsupported protocol|version/, "The client offered only versions of TLS before 1.2.", () => ["Enable TLS 1.2 or 1.3 in the client."]],
  [/plain HTTP/, "The client sent plain HTTP to a port with TLS.",
    () => ["Use an https: URL, or start the simulator with --h2c and use HTTP/2 with prior knowledge."]],
  [/not TLS/, "The client sent data that is not TLS, such as HTTP/2 without TLS.",
    () => ["Enable TLS in the client, or start the simulator with --h2c."]],
  [/TLS handshake to a port without TLS/, "The client used TLS with a simulator that was started without it (--h2c).",
    () => ["Use an http: URL and HTTP/2 with prior knowledge in the client, or start the simulator without --h2c."]],
  [/data that is not HTTP\/2/, "The client sent data that is not HTTP/2.",
    () => ["Use a client with HTTP/2 and prior knowledge: APNs has no HTTP/1.1."]],
  [/did not complete the TLS handshake in time/, "The client began a TLS handshake and did not finish it in time.",
    () => ["Check that the client is not blocked, and that a proxy between them passes TLS on."]],
  [/closed the connection during/, "The client closed the connection during the TLS handshake.",
    () => ["Its log has the reason. Often it does not trust the authority (", connect("Connect"), "), or only checks whether the port is open."]],
]

/** Whether a connection failed before its first request. */
export const isRefused = ({ failed }) => failed === true

/** The cause of a failed connection as a sentence, and its remedy as elements. */
export function refusal({ peer, closed }) {
  const reason = closed?.reason ?? ""
  const [, cause, remedy] = causes.find(([pattern]) => pattern.test(reason)) ?? [null, `${reason.replace(peer, "the client")}.`, () => []]
  return { cause, remedy: remedy() }
}
