import APNsClient
import LiveSurfaces

/// One push of the demonstration and the answer that it has to get.
struct DemoPush: Sendable {
    /// What is sent, and where to.
    enum Content: Sendable {
        case push(PushNotification, to: DeviceToken)
        case start(LiveActivityStart, on: DeviceToken)
        /// To the Live Activity that was started last.
        case update(LiveActivityUpdate)
        case activity(PushNotification)
        case broadcast(LiveActivityUpdate)
        case surface(SurfaceSnapshot, to: DeviceToken)
    }

    /// Which client sends it.
    enum Sender {
        /// One as anybody would make it.
        case usual
        /// One that leaves all checking to APNs.
        case unchecked
        /// One on a machine whose clock is two hours slow.
        case late
    }

    /// The answer that a push has to get.
    enum Answer: Equatable, CustomStringConvertible {
        case accepted
        case refused(Int, Reason)
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
    /// The rule that finds it wrong all the same; nil when none does.
    let rule: String?

    init(_ title: String, _ content: Content, _ expected: Answer = .accepted, from sender: Sender = .usual) {
        self.title = title
        self.content = content
        self.expected = expected
        self.sender = sender
        rule = nil
    }

    /// A push that is accepted, though a rule finds it wrong.
    init(_ title: String, _ content: Content, rule: String) {
        self.title = title
        self.content = content
        self.rule = rule
        expected = .accepted
        sender = .unchecked
    }

    /// Where it goes, shortened.
    var destination: String {
        switch content {
        case .push(_, let token), .start(_, let token), .surface(_, let token): token.description
        case .update, .activity: "activity"
        case .broadcast: "channel"
        }
    }

    /// Has a client send it.
    func send(with client: PushClient, in world: DemoWorld) async throws -> PushReceipt {
        let app = DemoWorld.app
        switch content {
        case .push(let notification, let token): return try await client.send(notification, to: token, topic: app)
        case .start(let start, let token):
            return try await client.start(start, on: token, topic: app)
        case .update(let update):
            return try await client.send(update, toActivity: world.activity(), topic: app)
        case .activity(let notification):
            return try await client.send(notification, to: world.activity(), topic: app)
        case .broadcast(let update): return try await client.broadcast(update, on: world.channel, of: app)
        case .surface(let snapshot, let token):
            return try await client.send(snapshot, to: .device(token), topic: app)
        }
    }
}

/// What came of one push of the demonstration.
struct DemoOutcome {
    private var answer: DemoPush.Answer?
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
            // Status 410 without its time would be half an answer.
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

    /// Notes what the rules find; without the rule that is to be among it, it is not the outcome that was expected.
    mutating func note(_ findings: [Lint.Finding], _ rule: String?) {
        guard let finding = findings.first(where: { $0.rule == rule }) else {
            answer = nil
            explanation = "found: " + findings.map(\.rule).joined(separator: ", ")
            return
        }
        explanation = "\(finding.severity): \(finding.rule) at \(finding.place)"
    }

    var isAccepted: Bool { answer == .accepted }

    var status: String {
        switch answer {
        case .accepted: "200"
        case .refused(let status, _): "\(status)"
        case .notSent: "not sent"
        case nil: "failed"
        }
    }

    /// The outcome for programs.
    func json(of push: DemoPush, number: Int, _ isExpected: Bool) -> JSONValue {
        [
            "number": .number(JSONNumber(number)), "push": .string(push.title), "to": .string(push.destination),
            "answer": .string(status),
            "milliseconds": JSONNumber(Double(milliseconds) ?? 0).map(JSONValue.number) ?? .null,
            "explanation": .string(explanation), "expected": .bool(isExpected),
        ]
    }

    var milliseconds: String {
        let tenths = took.components.seconds * 10_000 + took.components.attoseconds / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    func isAnswer(_ expected: DemoPush.Answer) -> Bool {
        answer == expected
    }
}
