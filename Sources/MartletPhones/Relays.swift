// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletTransport

/// The relays on this machine, as apps and their back end reach them.
struct Relays: Sendable {
    /// An answer without a ticket.
    struct NoTicket: Error, CustomStringConvertible {
        let status: Int

        var description: String { "the relay answers \(status) to a request for a ticket" }
    }

    /// The pause while no relay accepts connections.
    private static let pause = Duration.milliseconds(500)

    let ports: [UInt16]
    /// The API key of the back end.
    let key: String
    let loop: EventLoop

    /// Returns a ticket, as the back end of the app does for a signed-in user.
    ///
    /// - Parameter request: The request of the back end.
    /// - Returns: The ticket.
    /// - Throws: ``NoTicket``, or a `TransportError` if the answer was lost.
    func ticket(_ request: JSONValue) async throws -> String {
        let answer = try await ask("POST", "/v1/apps/orders/tickets", "Bearer \(key)", request.encoded())
        guard let ticket = (try? JSONReader.read(answer.body))?["ticket"]?.stringValue else {
            throw NoTicket(status: answer.status)
        }
        return ticket
    }

    /// Sends a request of an app.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer.
    /// - Throws: A `TransportError` if the answer was lost.
    func send(_ request: InstallationRequest) async throws -> InstallationAnswer {
        let answer = try await ask(request.method, "/v1/installation", request.authorization, request.body)
        return InstallationAnswer(
            status: answer.status,
            retryAfter: answer.fields["retry-after"],
            body: answer.body
        )
    }

    /// Sends a request to a relay that accepts the connection, as a load balancer does, and waits for one.
    private func ask(
        _ method: String,
        _ path: String,
        _ authorization: String,
        _ body: [UInt8]
    ) async throws -> HTTPResponse {
        let fields: HTTPFields = ["authorization": authorization, "content-type": "application/json"]
        while true {
            for port in ports.shuffled() {
                let call = HTTP1Call(host: "127.0.0.1", port: port)
                do throws(TransportError) {
                    return try await call.send(method, path, fields: fields, body: body, within: .seconds(30), on: loop)
                } catch {
                    guard error.kind == .connectionRefused else { throw error }
                }
            }
            try await Task.sleep(for: Relays.pause)
        }
    }
}
