// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// A simulator whose HTTP interface is asked by curl.
struct InboxBench {
    let apns: SimulatedAPNs
    let base: String

    /// Starts a simulator that has received this number of pushes, and stores three by default.
    init(pushes: Int = 0, storedPushes: Int = 3, release: SimulatedAPNs.Release? = nil) async throws {
        apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                inboxPort: 0,
                storedPushes: release == nil ? storedPushes : 10,
                release: release
            )
        )
        base = "http://127.0.0.1:\(try #require(await apns.inboxPort))"
        try await push(pushes)
    }

    /// Sends alerts `push 0`, `push 1` and so on to a device.
    func push(_ count: Int, to token: String = "5d3a6a1c") async throws {
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        for number in 0..<count {
            let id = APNsID(randomBits: (1, UInt64(number)))
            try await client.send(
                .alert(PushNotification.Alert(body: "push \(number)"), id: id),
                to: DeviceToken(hex: token),
                topic: "com.example.app"
            )
        }
        await client.close()
    }

    func get(_ path: String, _ more: String...) async throws -> (status: String, body: String) {
        try await curl(path, more)
    }

    func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> (status: String, body: String) {
        try await curl(path, ["--request", method] + (body.map { ["--data-binary", $0] } ?? []))
    }

    func json(_ method: String, _ path: String, _ body: String? = nil) async throws -> JSONValue {
        try JSONReader.read(Array(try await send(method, path, body).body.utf8))
    }

    private func curl(_ path: String, _ more: [String]) async throws -> (status: String, body: String) {
        let run = try await ProgramRun.curl(more + ["--write-out", "\n%{http_code}", base + path])
        let parts = run.text.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(parts.last ?? ""), parts.dropLast().joined(separator: "\n"))
    }
}
