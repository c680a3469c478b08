// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

/// Tests of reading snapshots whose writer is older or newer: what is skipped or ignored, and what stays an error.
@Suite struct ReceivedSnapshotTests {
    /// A snapshot of an experimental kind, for a watch face.
    private static func watch() throws -> UnknownSnapshot {
        try UnknownSnapshot(
            experiment: "watchFace",
            id: "order-17-watch@3",
            surfaceID: "order-17-watch",
            updatedAt: "2026-05-12T18:31:00.000Z",
            state: .active,
            content: ["title": "On its way", "minutes": 9]
        )
    }

    private static func read(_ json: JSONValue) throws(SurfaceError) -> SurfaceSnapshot.Received {
        try SurfaceSnapshot.parse(received: json.encoded())
    }

    /// Returns a snapshot with members that replace others or are added.
    private static func json(_ snapshot: SurfaceSnapshot, with members: JSONValue.Member...) -> JSONValue {
        let names = members.map(\.name)
        return .object((snapshot.json.members ?? []).filter { !names.contains($0.name) } + members)
    }

    // MARK: An experimental kind

    @Test func `a reader skips an experimental kind with a warning`() throws {
        let watch = try Self.watch()
        let received = try Self.read(watch.json)
        #expect(received == .unknown(watch))
        #expect(
            received.warnings == [
                "the kind watchFace of the snapshot order-17-watch@3 is unknown: update this reader if it should show "
                    + "the surface"
            ]
        )
    }

    @Test func `a reader that takes part in the experiment uses the content`() throws {
        guard case .unknown(let unknown) = try Self.read(try Self.watch().json), unknown.kind == "watchFace" else {
            Issue.record("the snapshot was not skipped")
            return
        }
        #expect(unknown.content?["minutes"]?.integerValue == 9)
        #expect(unknown.surfaceID == "order-17-watch" && unknown.schemaVersion == "5")
    }

    @Test func `the other surfaces of the same event are read`() throws {
        let event = [
            SurfaceExample.widgetMedium.snapshot.json, try Self.watch().json,
            SurfaceExample.controlButton.snapshot.json,
        ]
        let received = try event.map(Self.read)
        let kinds = received.compactMap { (received) -> SurfaceKind? in
            guard case .snapshot(let snapshot, _) = received else { return nil }
            return snapshot.kind
        }
        #expect(kinds == [.widget, .control])
        #expect(received.flatMap(\.warnings).count == 1)
    }

    @Test func `a writer's check refuses the same snapshot`() throws {
        let json = try Self.watch().json
        let error = try #require(throws: SurfaceError.self) { try SurfaceSnapshot(json) }
        #expect(error.issues.map(\.code) == [.invalidUnion])
        #expect(throws: SurfaceError.self) { try SurfaceSnapshot.parse(anyVersion: json.encoded()) }
    }

    @Test(arguments: ["widget", "state", "schemaVersion", ""])
    func `a kind or a member of the contract is no experiment`(kind: String) {
        #expect(throws: SurfaceError.self) {
            try UnknownSnapshot(
                experiment: kind,
                id: "a@1",
                surfaceID: "a",
                updatedAt: "2026-05-12T18:31:00.000Z",
                state: .active,
                content: [:]
            )
        }
    }

    @Test(arguments: [("id", ""), ("updatedAt", "yesterday"), ("state", "purple"), ("watchFace", "text")])
    func `an experimental kind keeps the rules of all kinds`(name: String, text: String) throws {
        let members = (try Self.watch().json.members ?? []).map { member in
            member.name == name ? JSONValue.Member(name, .string(text)) : member
        }
        let error = try #require(throws: SurfaceError.self) { try Self.read(.object(members)) }
        #expect(error.issues.map { $0.path.joined(separator: ".") } == [name])
    }

    // MARK: Newer and older writers

    @Test func `a member that a newer writer added is ignored with a warning`() throws {
        let widget = SurfaceExample.widgetMedium.snapshot
        let content = JSONValue.object((widget.json["widget"]?.members ?? []) + [.init("glow", true)])
        let received = try Self.read(Self.json(widget, with: .init("widget", content), .init("priority", 3)))
        #expect(
            received
                == .snapshot(
                    widget,
                    warnings: [
                        "widget has unknown members: glow, which are ignored",
                        "the snapshot has unknown members: priority, which are ignored",
                    ]
                )
        )
    }

    @Test(arguments: SurfaceExample.all) func `a reader skips every snapshot of version 6`(_ example: SurfaceExample)
        throws
    {
        // Only the version, the kind and the identifiers are the same in every version.
        let json: JSONValue = [
            "schemaVersion": "6", "kind": .string(example.snapshot.kind.rawValue),
            "id": .string(example.snapshot.id), "surfaceId": .string(example.snapshot.surfaceID),
            "content": ["headline": "On its way"],
        ]
        let received = try Self.read(json)
        guard case .unknown(let unknown) = received else {
            Issue.record("the snapshot was read")
            return
        }
        #expect(unknown.json == json && unknown.content == nil && unknown.id == example.snapshot.id)
        #expect(received.warnings.first?.contains("is of version 6, and this reader knows version 5") == true)
        #expect(throws: SurfaceError.self) { try SurfaceSnapshot(json) }
    }

    @Test func `a snapshot of version 4 is migrated with a warning`() throws {
        let widget = SurfaceExample.widgetMedium.snapshot
        let received = try Self.read(Self.json(widget, with: .init("schemaVersion", "4")))
        #expect(received.warnings.count == 1 && received.warnings.first?.contains("version 4") == true)
        guard case .snapshot(let snapshot, _) = received else { return }
        #expect(snapshot == widget)
    }

    @Test(arguments: SurfaceExample.all) func `a snapshot of the current version has no warning`(
        _ example: SurfaceExample
    ) throws {
        #expect(try Self.read(example.snapshot.json) == .snapshot(example.snapshot, warnings: []))
    }

    // MARK: Errors

    @Test(
        arguments: [
            ("schemaVersion", "x"), ("schemaVersion", "06"), ("schemaVersion", "0"), ("schemaVersion", 6), ("kind", ""),
            ("kind", .null), ("state", "purple"), ("widget", ["title": ""]),
        ] as [(String, JSONValue)]
    )
    func `a violation of a rule of its version stays an error`(name: String, value: JSONValue) {
        let json = Self.json(SurfaceExample.widgetMedium.snapshot, with: .init(name, value))
        #expect(throws: SurfaceError.self) { try Self.read(json) }
    }

    @Test func `an error beside an unknown member is reported alone`() throws {
        let widget = SurfaceExample.widgetMedium.snapshot
        let json = Self.json(widget, with: .init("state", "purple"), .init("priority", 3))
        let error = try #require(throws: SurfaceError.self) { try Self.read(json) }
        #expect(error.issues.map(\.code) == [.invalidValue])
    }

    @Test func `text that is no object is an error`() {
        for text in ["", "[]", "7", #"{"schemaVersion":"6"}"#] {
            #expect(throws: SurfaceError.self) { try SurfaceSnapshot.parse(received: Array(text.utf8)) }
        }
    }
}
