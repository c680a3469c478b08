import APNsClient
import Simulator

/// One push of the demonstration and the answer that it has to get.
struct DemoPush {
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

    var title: String
    var token: DeviceToken
    var notification: PushNotification
    var topic: Topic = DemoPush.app
    var sender = Sender.usual
    var expected = Answer.accepted

    private static let app: Topic = "com.example.app"

    /// Every push, for a simulator that knows the devices from now on.
    static func all(for apns: SimulatedAPNs) async throws -> [DemoPush] {
        let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
        let released = try DeviceToken(hex: "a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90")
        let neighbour = try DeviceToken(hex: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0")
        let departed = try DeviceToken(hex: "dead00beef11dead22beef33dead44beef55dead66beef77dead88beef99dead")
        await apns.register(phone, for: [app, app.qualified(for: .widgets)])
        await apns.register(released, for: [app], in: .production)
        await apns.register(neighbour, for: ["com.example.other"])
        await apns.unregister(departed, since: 1_790_000_000_000)
        return try accepted(to: phone)
            + refused(phone: phone, released: released, neighbour: neighbour, departed: departed)
    }

    private static func accepted(to phone: DeviceToken) throws -> [DemoPush] {
        struct Order: Encodable {
            var deepLink: String
        }
        let order = try CustomData(Order(deepLink: "app://orders/42"))
        let localized = Alert(
            titleLocalizationKey: "ORDER_READY",
            localizationKey: "ORDER_FOR_%@_AT_%@",
            localizationArguments: ["Ada", "6 PM"]
        )
        let reload = Array(#"{"aps":{"content-changed":true}}"#.utf8)
        return [
            DemoPush(title: "a plain alert", token: phone, notification: .alert("Hello from Martlet")),
            DemoPush(
                title: "title, body, sound, badge and a deep link",
                token: phone,
                notification: .alert(
                    Alert(title: "Order ready", body: "Tap to open the order."),
                    sound: .default,
                    badge: 3,
                    custom: order
                )
            ),
            DemoPush(title: "text from the app's own strings", token: phone, notification: .alert(localized)),
            DemoPush(
                title: "time-sensitive, with actions, in a thread",
                token: phone,
                notification: .alert(
                    "Your driver is here",
                    threadID: "ride-7",
                    category: "RIDE",
                    interruptionLevel: .timeSensitive
                )
            ),
            DemoPush(
                title: "replaces the one before, worth one attempt",
                token: phone,
                notification: .alert(
                    "2 : 1",
                    expiration: .attemptOnce,
                    collapseID: try CollapseID("match-12")
                )
            ),
            DemoPush(title: "a badge and nothing else", token: phone, notification: .alert(nil, badge: 0)),
            DemoPush(
                title: "a silent wake-up in the background",
                token: phone,
                notification: .background(custom: order)
            ),
            DemoPush(title: "a reload of widgets", token: phone, notification: .opaque(reload, pushType: .widgets)),
        ]
    }

    private static func refused(
        phone: DeviceToken,
        released: DeviceToken,
        neighbour: DeviceToken,
        departed: DeviceToken
    ) -> [DemoPush] {
        let large = PushNotification.alert(Alert(body: String(repeating: "long ", count: 900)))
        let hasty = PushNotification.opaque(
            Array(#"{"aps":{"content-available":1}}"#.utf8),
            pushType: .background,
            priority: .immediate
        )
        return [
            DemoPush(
                title: "to a device of the App Store build",
                token: released,
                notification: .alert("Hello"),
                expected: .refused(400, .badDeviceToken)
            ),
            DemoPush(
                title: "to a device of another app",
                token: neighbour,
                notification: .alert("Hello"),
                expected: .refused(400, .deviceTokenNotForTopic)
            ),
            DemoPush(
                title: "to a device that removed the app",
                token: departed,
                notification: .alert("Hello"),
                expected: .refused(410, .unregistered)
            ),
            DemoPush(
                title: "a background push in a hurry",
                token: phone,
                notification: hasty,
                sender: .unchecked,
                expected: .refused(400, .badPriority)
            ),
            DemoPush(
                title: "more than 4096 bytes",
                token: phone,
                notification: large,
                sender: .unchecked,
                expected: .refused(413, .payloadTooLarge)
            ),
            DemoPush(
                title: "from a machine two hours slow",
                token: phone,
                notification: .alert("Hello"),
                sender: .late,
                expected: .refused(403, .expiredProviderToken)
            ),
            DemoPush(
                title: "more than 4096 bytes, checked before sending",
                token: phone,
                notification: large,
                expected: .notSent
            ),
        ]
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

    init(_ error: APNsError, took: Duration) {
        self.took = took
        switch (error.code, error.status, error.reason) {
        case (.refused, let status?, let reason?):
            answer = .refused(status, reason)
            // Status 410 without its time would be half an answer.
            guard status != 410 || error.timestamp != nil else {
                answer = nil
                explanation = "\(reason) without a timestamp"
                return
            }
            explanation = "\(reason)" + (error.timestamp.map { ", timestamp \($0)" } ?? "")
        case (.invalid, _, _):
            answer = .notSent
            explanation = error.finding?.message ?? error.description
        default:
            explanation = error.description
        }
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

    var milliseconds: String {
        let tenths = took.components.seconds * 10_000 + took.components.attoseconds / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    func isAnswer(_ expected: DemoPush.Answer) -> Bool {
        answer == expected
    }
}
