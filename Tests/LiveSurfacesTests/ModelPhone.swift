// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import LiveSurfaces

/// A phone whose requests all reach the relay.
struct ModelPhone {
    var relay = ModelRelay()
    var state: InstallationState

    init(user: String? = "anna") {
        state = InstallationState()
        state.configure(.production, bundleID: nil)
        state.set(.text("ab12"), at: PushTokenSlot.device.path)
        state.set(.text("de"), at: MemberPath("locale"))
        state.setUser(user)
    }

    /// Launches the app with the stored state.
    mutating func launch() throws {
        state = try JSONDecoder().decode(InstallationState.self, from: try JSONEncoder().encode(state))
    }

    mutating func nextRequest() -> InstallationRequest? {
        switch state.nextStep {
        case .enroll(let user): state.enrollment(of: user, with: relay.ticket(for: user))
        case .send(let request): request
        case nil: nil
        }
    }

    mutating func request() throws -> InstallationRequest {
        let request = nextRequest()
        return try #require(request)
    }

    /// Sends requests until there is nothing to report; returns them as text.
    mutating func settle() -> [String] {
        var sent: [String] = []
        while sent.count < 10, let request = nextRequest() {
            state.begin(request)
            _ = state.receive(relay.answer(request), to: request, jitter: 1)
            sent.append("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
        }
        return sent
    }

    /// The Live Activities that the relay has, by their identifiers.
    var activities: [String: ReportedActivity] {
        var found: [String: ReportedActivity] = [:]
        let own = state.installation.flatMap { relay.installations[$0.secret] }
        for (path, value) in own?.members ?? [:] {
            if let activity = value.activity, let id = path.names.last { found[id] = activity }
        }
        return found
    }
}
