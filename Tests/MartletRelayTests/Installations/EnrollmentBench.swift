// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletTransport
import Testing

@testable import MartletRelay

/// A relay with a back end that may issue tickets, and phones.
struct EnrollmentBench {
    static let key = "mrt_installer"
    /// The member with the payload of an alert.
    static let alert = #""payload":{"aps":{"alert":"Hi"}}"#

    let relay: RelayBench

    init(
        clock: WallClock = .system,
        log: Logger = .silent,
        quietHours: QuietHours? = nil,
        alertsPerDay: Int? = nil
    ) async throws {
        let own = try RelayConfiguration.Caller(key: Self.key, apps: ["orders"], scopes: [.installations])
        let other = try RelayConfiguration.Caller(key: "mrt_rides", apps: ["rides"], scopes: [.installations, .send])
        relay = try await RelayBench(clock: clock, log: log) {
            $0.callers += [own, other]
            $0.http = RelayConfiguration.Address(port: 0)
            $0.apps[0].quietHours = quietHours
            $0.apps[0].alertsPerDay = alertsPerDay
        }
    }

    /// Sends a request of a back end.
    func ask(_ method: String, _ path: String, _ body: String = "") async -> RelayBench.Answer {
        await relay.ask(method, "/v1/apps/orders" + path, body, key: Self.key)
    }

    /// Sends a push, as a back end with a key of the scopes `send` and `read`.
    func send(
        to audience: String,
        _ content: String = Self.alert,
        query: String = "",
        fields: HTTPFields = [:]
    ) async -> RelayBench.Answer {
        await relay.ask("POST", "/v1/pushes" + query, #"{"to":\#(audience),\#(content)}"#, fields: fields)
    }

    /// Sends a request of an app on a phone.
    func phone(_ method: String, _ body: String = "", with credential: String?) async -> RelayBench.Answer {
        await relay.ask(method, "/v1/installation", body, key: credential)
    }

    /// Returns the answer with the surfaces that a phone shall show.
    func surfaces(with credential: String?) async -> RelayBench.Answer {
        await relay.ask("GET", "/v1/installation/surfaces", key: credential)
    }

    func ticket(for user: String = "anna", _ more: String = "") async throws -> String {
        let answer = await ask("POST", "/tickets", #"{"user":"\#(user)"\#(more)}"#)
        return try #require(answer.json["ticket"]?.stringValue, "\(answer.text)")
    }

    /// Enrolls a phone; returns its secret and its installation.
    func enroll(_ user: String = "anna", _ more: String = "") async throws -> (secret: String, id: String) {
        let ticket = try await ticket(for: user)
        let answer = await phone("POST", #"{"environment":"production"\#(more)}"#, with: ticket)
        let secret = try #require(answer.json["secret"]?.stringValue, "\(answer.text)")
        return (secret, try #require(answer.json["installation"]?["id"]?.stringValue))
    }

    /// The installations of the app.
    func installations(_ query: String = "") async -> [JSONValue] {
        await ask("GET", "/installations" + query).json["installations"]?.elements ?? []
    }

    func stop() async { await relay.stop() }
}
