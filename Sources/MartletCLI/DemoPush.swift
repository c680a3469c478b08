// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet

/// A push of `martlet demo` with its expected answer.
struct DemoPush: Sendable {
    /// The content of a push and its destination.
    enum Content: Sendable {
        case push(PushNotification, to: DeviceToken)
        case start(LiveActivityStart, on: DeviceToken)
        /// An update of the Live Activity that was started last.
        case update(LiveActivityUpdate)
        case activity(PushNotification)
        case broadcast(LiveActivityUpdate)
        case surface(SurfaceSnapshot, to: DeviceToken)
    }

    /// The client that sends a push.
    enum Sender {
        /// The client with the usual configuration.
        case usual
        /// The client that does not check pushes before sending.
        case unchecked
        /// The client whose clock is two hours slow.
        case late
    }

    /// The answer to a push.
    enum Answer: Equatable, CustomStringConvertible {
        case accepted
        case refused(Int, APNsReason)
        case notSent

        var description: String {
            switch self {
            case .accepted: "200"
            case .refused(let status, let reason): "\(status) \(reason)"
            case .notSent: "not sent"
            }
        }
    }

    let title: String
    let content: Content
    let sender: Sender
    let expected: Answer
    /// The rule that must find a mistake in an accepted push; nil for none.
    let rule: String?

    init(_ title: String, _ content: Content, _ expected: Answer = .accepted, from sender: Sender = .usual) {
        self.title = title
        self.content = content
        self.expected = expected
        self.sender = sender
        rule = nil
    }

    /// Creates a push that is accepted although a rule finds a mistake.
    init(_ title: String, _ content: Content, rule: String) {
        self.title = title
        self.content = content
        self.rule = rule
        expected = .accepted
        sender = .unchecked
    }

    /// The destination, shortened.
    var destination: String {
        switch content {
        case .push(_, let token), .start(_, let token), .surface(_, let token): token.description
        case .update, .activity: "activity"
        case .broadcast: "channel"
        }
    }

    /// Sends the push with a client.
    func send(with client: PushClient, in world: DemoScenario) async throws -> PushReceipt {
        let app = DemoScenario.app
        switch content {
        case .push(let notification, let token): return try await client.send(notification, to: token, topic: app)
        case .start(let start, let token):
            return try await client.startLiveActivity(start, on: token, topic: app)
        case .update(let update):
            return try await client.send(update, toActivity: world.activity(), topic: app)
        case .activity(let notification):
            return try await client.send(notification, to: world.activity(), topic: app)
        case .broadcast(let update): return try await client.broadcast(update, to: world.channel, topic: app)
        case .surface(let snapshot, let token):
            return try await client.send(snapshot, to: .device(token), topic: app)
        }
    }
}

/// The result of a push in `martlet demo`.
struct DemoOutcome {
    private(set) var answer: DemoPush.Answer?
    private(set) var explanation = ""
    private var took: Duration

    init(answer: DemoPush.Answer, took: Duration) {
        self.answer = answer
        self.took = took
    }

    init(_ error: any Error, took: Duration) {
        self.took = took
        guard let error = error as? APNsError else {
            explanation = "\(error)"
            return
        }
        switch (error.code, error.status, error.reason) {
        case (.refused, let status?, let reason?):
            answer = .refused(status, reason)
            // The answer is incomplete: status 410 must have a timestamp.
            guard status != 410 || error.unregisteredAt != nil else {
                answer = nil
                explanation = "\(reason) without a timestamp"
                return
            }
            explanation = "\(reason)" + (error.unregisteredAt.map { ", timestamp \($0.millisecondsSince1970)" } ?? "")
        case (.invalid, _, _):
            answer = .notSent
            explanation = error.finding?.message ?? error.description
        default:
            explanation = error.description
        }
    }

    /// Records the findings of the rules; without the expected rule, the result is a failure.
    mutating func note(_ findings: [PushLint.Finding], _ rule: String?) {
        guard let finding = findings.first(where: { $0.rule == rule }) else {
            answer = nil
            explanation = "found: " + findings.map(\.rule).joined(separator: ", ")
            return
        }
        explanation = "\(finding.severity): \(finding.rule) at \(finding.place)"
    }

    var status: String {
        switch answer {
        case .accepted: "200"
        case .refused(let status, _): "\(status)"
        case .notSent: "not sent"
        case nil: "failed"
        }
    }

    /// Returns the result as JSON.
    func json(of push: DemoPush, number: Int, _ isExpected: Bool) -> JSONValue {
        [
            "number": .integer(number), "push": .string(push.title), "to": .string(push.destination),
            "answer": .string(status),
            "milliseconds": JSONNumber(Double(milliseconds) ?? 0).map(JSONValue.number) ?? .null,
            "explanation": .string(explanation), "expected": .bool(isExpected),
        ]
    }

    var milliseconds: String {
        let tenths = took.components.seconds * 10_000 + took.components.attoseconds / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
