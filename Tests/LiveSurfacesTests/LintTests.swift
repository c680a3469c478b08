// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Testing

/// Tests that the pushes of snapshots follow the rules.
@Suite struct LintTests {
    private static func findings(_ type: PushType, _ payload: [UInt8], priority: String = "10") -> [PushLint.Finding] {
        let headers = PushHeaders(
            pushType: type.rawValue,
            priority: priority,
            topic: Topic("com.example.app").qualified(for: type).rawValue
        )
        return PushLint.check(headers: headers, payload: payload, at: Date(timeIntervalSince1970: 1_790_000_000))
    }

    @Test(arguments: Fixtures.examples) func `an example has no findings as any push`(_ snapshot: SurfaceSnapshot)
        throws
    {
        let silent = PushNotification.Payload(
            APS(contentAvailable: true),
            custom: try PushNotification.CustomData(["surfaceSnapshot": snapshot.json])
        )
        #expect(try Self.findings(.background, silent.encoded(), priority: "5").isEmpty)
        switch snapshot {
        case .notification(let snapshot):
            #expect(Self.findings(.alert, snapshot.payload.encoded()).isEmpty)
        case .liveActivity(let snapshot):
            #expect(Self.findings(.alert, snapshot.alertPayload.encoded()).isEmpty)
            let start = try LiveActivityStart(
                snapshot.attributes,
                state: snapshot.contentState,
                alert: LiveActivityAlert(title: "On its way", body: "Two stops before you")
            )
            let update = try LiveActivityUpdate.update(snapshot.contentState)
            let end = try LiveActivityUpdate.end(snapshot.contentState, dismissal: .after(.seconds(60)))
            let payloads = [
                try start.payload(timestamp: Date(timeIntervalSince1970: 1_790_000_000)),
                try update.payload(timestamp: Date(timeIntervalSince1970: 1_790_000_001)),
                try end.payload(timestamp: Date(timeIntervalSince1970: 1_790_000_002)),
            ]
            for payload in payloads {
                #expect(try Self.findings(.liveActivity, payload.encoded(), priority: "5").isEmpty)
            }
        case .widget, .control, .lockAccessory, .standBy: break
        }
    }
}
