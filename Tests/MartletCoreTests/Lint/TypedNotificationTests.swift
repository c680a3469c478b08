// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Tests that the typed notifications follow the rules.
@Suite struct TypedNotificationTests {
    private struct RideAttributes: LiveActivityAttributes {
        struct ContentState: Encodable {
            var minutesLeft: Int
            var arrival: Date
            var note: String?
        }
        var rideID: String
    }

    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    private static func notifications() throws -> [PushNotification] {
        let data = try PushNotification.CustomData(["n": 1])
        let state = RideAttributes.ContentState(minutesLeft: 5, arrival: Date(timeIntervalSince1970: 1_790_000_300))
        let alert = LiveActivityAlert(
            title: "Your ride",
            body: .localized(key: "ARRIVES", arguments: ["5"]),
            sound: .critical(volume: 0.5)
        )
        let later = Date(timeIntervalSince1970: 1_790_003_600)
        let sources: [LiveActivityStart.UpdateSource] = [.byApp, .byToken, .byChannel("YQ==")]
        let dismissals: [LiveActivityUpdate.Dismissal] = [.immediate, .after(.seconds(14_400)), .at(later)]
        return [
            .alert("Hi"), .alert(nil, badge: 0), .alert(nil, sound: .named("a.caf")),
            .alert(
                PushNotification.Alert(titleLocalizationKey: "T", localizationKey: "B", localizationArguments: ["x"])
            ),
            .alert(
                PushNotification.Alert(
                    title: "Order ready",
                    subtitle: "Bakery",
                    body: "Tap to open.",
                    launchImage: "bread"
                ),
                sound: .critical(),
                badge: 3,
                threadID: "order-17",
                category: "order",
                targetContentID: "order-17",
                interruptionLevel: .critical,
                relevanceScore: 1,
                filterCriteria: "work",
                mutableContent: true,
                custom: data,
                expiration: .at(later),
                collapseID: "order-17",
                id: try APNsID("123e4567-e89b-12d3-a456-4266554400a0")
            ),
            .background(), .background(custom: data, expiration: .attemptOnce),
            .voip(data), .pushToTalk(data), .pushToTalkServiceUpdate(), .pushToTalkServiceUpdate(data),
            .complication(data), .location(), .location(data), .fileProvider(), .fileProvider(domain: "home"),
            .widgets(), .controls(),
            .accessory(
                encryptedData: Array(repeating: 0x41, count: 300),
                sessionIdentifier: "session-1",
                keyID: [1, 2, 3],
                messageIndex: 42
            ),
            .mdm(pushMagic: "M-1"), .walletPass(),
            .safari(title: "News", body: "Read", action: "Open", urlArguments: ["a"]), .safari(title: "News", body: ""),
            try .liveActivity(.update(state, alert: alert, staleDate: later, relevanceScore: 75), timestamp: now),
            try .liveActivity(.update(state), timestamp: now),
            try .liveActivity(.update(state, alert: alert), timestamp: now, priority: .immediate),
            try .liveActivity(.end(dismissal: .immediate), timestamp: now),
        ]
            + (try sources.map { updateSource in
                try .liveActivity(
                    LiveActivityStart(
                        RideAttributes(rideID: "7"),
                        state: state,
                        alert: alert,
                        updateSource: updateSource
                    ),
                    timestamp: now
                )
            })
            + (try dismissals.map { try .liveActivity(.end(state, dismissal: $0, alert: alert), timestamp: now) })
    }

    @Test func `the typed notifications have no findings`() throws {
        for notification in try Self.notifications() {
            let topic: Topic = notification.pushType == .mdm ? "com.apple.mgmt.External.1b2c" : "com.example.app"
            let headers = PushHeaders(
                pushType: notification.pushType?.rawValue,
                id: notification.id?.description,
                expiration: notification.expiration.map { String($0.secondsSince1970) },
                priority: notification.priority.map { String($0.rawValue) },
                topic: notification.pushType.map(topic.qualified(for:))?.rawValue ?? topic.rawValue,
                collapseID: notification.collapseID?.rawValue
            )
            let payload = try notification.payload.encoded()
            let findings = PushLint.check(headers: headers, payload: payload, at: Self.now)
            #expect(findings.isEmpty, "\(String(decoding: payload, as: UTF8.self)): \(findings.map(\.message))")
        }
    }
}
