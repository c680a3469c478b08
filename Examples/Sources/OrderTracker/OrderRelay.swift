// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The part of the shop's server that states at a relay what the phones of a customer shall show.
struct OrderRelay: Sendable {
    /// An answer of the relay with an error status.
    struct Refusal: Error {
        let status: Int
        /// The problem, which names the member and the rule.
        let problem: String
    }

    /// The address of the relay's HTTP interface, such as `http://127.0.0.1:8198`.
    let address: String
    /// The server's key at the relay.
    let key: String

    /// Shows a revision of an order on the phones of its customer, also on a phone that enrolls later.
    ///
    /// Repeat a request without an answer: a state that the relay has already changes nothing.
    func show(_ order: Order, to customer: String) async throws {
        let snapshots = [order.liveActivity] + order.stored
        let surface: JSONValue = [
            "to": ["user": .string(customer)], "snapshots": .array(snapshots.map(\.json)), "control": "ring-bell",
        ]
        _ = try await send("PUT", "surfaces/\(order.surfaceID)", surface)
    }

    /// Ends the Live Activity of an order; the widget and the control keep its last revision.
    func withdraw(_ order: Order) async throws {
        _ = try await send("DELETE", "surfaces/\(order.surfaceID)")
    }

    /// Returns a ticket, with which the app of a customer who has signed in enrolls the phone.
    func ticket(for customer: String) async throws -> String {
        struct Issued: Decodable {
            let ticket: String
        }
        let answer = try await send("POST", "tickets", ["user": .string(customer)])
        return try JSONDecoder().decode(Issued.self, from: answer).ticket
    }

    private func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> Data {
        guard let url = URL(string: "\(address)/v1/apps/shop/\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("Bearer \(key)", forHTTPHeaderField: "authorization")
        request.httpBody = body.map { Data($0.encoded()) }
        let (answer, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard (200...201).contains(response.statusCode) else {
            throw Refusal(status: response.statusCode, problem: String(decoding: answer, as: UTF8.self))
        }
        return answer
    }
}
