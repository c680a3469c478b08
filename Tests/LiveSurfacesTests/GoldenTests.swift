// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Testing

/// Agreement with the contract's own data.
@Suite struct GoldenTests {
    @Test(.enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)), arguments: Fixtures.names())
    func `a fixture is read and written back`(name: String) throws {
        let json = try Fixtures.json(name)
        let snapshot = try SurfaceSnapshot(parsing: Fixtures.bytes(name))
        #expect(snapshot.json.canonical == json.canonical)
        #expect(try SurfaceSnapshot(parsing: snapshot.json.encoded()) == snapshot)
    }

    @Test(
        .enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)),
        arguments: [
            ("bad-deeplink-scheme", SurfaceIssue.Code.invalidFormat, "widget.deepLink"),
            ("empty-notification-subtitle", .tooSmall, "notification.subtitle"),
            ("kind-slice-mismatch", .invalidType, "widget"),
            ("missing-discriminator-kind", .invalidUnion, "kind"),
            ("out-of-range-widget-progress", .tooBig, "widget.progress"),
            ("oversized-lock-accessory-shortText", .tooBig, "lockAccessory.shortText"),
            ("plain-date-updatedAt", .invalidFormat, "updatedAt"),
            ("wrong-schema-version", .invalidValue, "schemaVersion"),
            ("wrong-state-enum", .invalidValue, "state"),
        ]
    )
    func `a negative fixture is refused with its code and path`(
        name: String,
        code: SurfaceIssue.Code,
        path: String
    ) throws {
        let bytes = try Fixtures.bytes("negative/\(name).json")
        let error = try #require(throws: SurfaceError.self) { try SurfaceSnapshot(parsing: bytes) }
        #expect(error.issues.first?.code == code, "\(error)")
        #expect(error.issues.first?.path.joined(separator: ".") == path)
    }

    @Test(.enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)))
    func `every negative fixture has a test`() {
        #expect(Fixtures.names(in: "negative/").count == 9)
    }

    @Test(.enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)), arguments: Fixtures.names())
    func `a projection equals the golden projection`(name: String) throws {
        let golden = try Fixtures.json("golden-projections/" + name)
        func expect(_ projection: JSONValue, _ helper: String, _ change: (String) -> String = { $0 }) throws {
            let text = try #require(golden["compactJSON"]?[helper]?["json"]?.stringValue)
            #expect(projection.text == change(text))
        }
        switch try SurfaceSnapshot(parsing: Fixtures.bytes(name)) {
        case .liveActivity(let snapshot):
            try expect(snapshot.contentState.json, "toLiveActivityContentState")
            // Differs on purpose: the sidecar says its version, or the app's code could not decode it.
            try expect(snapshot.alertPayload, "toApnsAlertPayload") {
                $0.replacing(#""liveSurface":{"#, with: #""liveSurface":{"schemaVersion":"5","#)
            }
        case .widget(let snapshot): try expect(snapshot.entry.json, "toWidgetTimelineEntry")
        case .control(let snapshot): try expect(snapshot.entry.json, "toControlValueProvider")
        case .lockAccessory(let snapshot): try expect(snapshot.entry.json, "toLockAccessoryEntry")
        case .standBy(let snapshot): try expect(snapshot.entry.json, "toStandbyEntry")
        case .notification(let snapshot):
            // Differs on purpose: Apple writes this level with a hyphen, and knows no other.
            try expect(snapshot.payload, "toNotificationContentPayload") {
                $0.replacing(#""timeSensitive""#, with: #""time-sensitive""#)
            }
        }
    }

    @Test(
        .enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)),
        arguments: (1...4).flatMap { Fixtures.names(in: "golden-migrations/v\($0)-to-v5/") }
    )
    func `a snapshot of an older version is migrated as expected`(name: String) throws {
        let golden = try Fixtures.json(name)
        let input = try #require(golden["input"])
        let migrated = try SurfaceSnapshot.parse(anyVersion: input.encoded(), updatedAt: "2026-05-01T00:00:00.000Z")
        #expect(migrated.snapshot.json == golden["expectedV5"])
        let version = try #require(input["schemaVersion"]?.stringValue)
        #expect(migrated.warning?.contains("version \(version) ") == true)
        #expect(migrated.warning?.contains("version 5") == true)
    }
}
