// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

/// Tests of the issues that the parser reports.
@Suite struct ReadingTests {
    private func issues(_ text: String) -> [String] {
        do {
            _ = try SurfaceSnapshot(parsing: Array(text.utf8))
            return []
        } catch {
            return error.issues.map { "\($0.path.joined(separator: ".")) \($0.code.rawValue)" }
        }
    }

    @Test func `all issues are reported in the order of the fields`() {
        let text = """
            {"schemaVersion":"4","kind":"widget","id":"","state":"x","widget":{"title":"","progress":2,"deepLink":"x",\
            "color":1},"zz":1}
            """
        #expect(
            issues(text) == [
                "schemaVersion invalid_value", "id too_small", "surfaceId invalid_type", "updatedAt invalid_type",
                "state invalid_value", "widget.title too_small", "widget.body invalid_type", "widget.progress too_big",
                "widget.deepLink invalid_format", "widget unrecognized_keys", " unrecognized_keys",
            ]
        )
    }

    @Test(arguments: [
        ("", " invalid_json"), ("{", " invalid_json"), ("[]", " invalid_type"), ("null", " invalid_type"),
        ("{}", "kind invalid_union"), (#"{"kind":"standBy"}"#, "kind invalid_union"),
        (#"{"kind":null}"#, "kind invalid_union"), (#"{"kind":"widget","kind":"widget"}"#, " invalid_json"),
    ])
    func `text that is not a snapshot has one issue`(text: String, issue: String) {
        #expect(issues(text) == [issue])
    }

    @Test func `deeply nested text has one issue`() {
        #expect(issues(String(repeating: "[", count: 100_000)) == [" invalid_json"])
    }

    @Test(arguments: [
        "a://", "a://x y", "z9+-.://", "shop://orders/17",
    ])
    func `a deep link begins with a scheme`(link: String) throws {
        #expect(throws: Never.self) { try widget { $0.deepLink = link } }
    }

    @Test(arguments: ["mailto:x", "a:/b", "A://b", "a_b://x", " a://b", "", "://x", "1a://x"])
    func `a deep link without a valid scheme is refused`(link: String) throws {
        #expect(throws: SurfaceError.self) { try widget { $0.deepLink = link } }
    }

    @Test(arguments: [
        "2026-05-12T18:31Z", "2024-02-29T00:00:00.123456789+05:30", "0000-01-01T00:00-00:00", "2026-12-31T23:59:59Z",
        "2000-02-29T00:00Z",
    ])
    func `a time may lack seconds and have any digits`(time: String) throws {
        #expect(throws: Never.self) { try snapshot(updatedAt: time).validated() }
    }

    @Test(arguments: [
        "2026-02-29T00:00Z", "1900-02-29T00:00Z", "2026-04-31T00:00Z", "2026-05-12T24:00Z", "2026-05-12T18:31:60Z",
        "2026-05-12T18:31:00,5Z", "2026-05-12t18:31Z", "2026-05-12T18:31z", "2026-05-12T18:31", "2026-05-12",
        "2026-05-12T18:31+0000", "2026-05-12T18:31-07", "2026-05-12 18:31Z", "2026-05-12T18:31Z\n",
        "2026-05-12T18:31:00.Z", "٢٠٢٦-05-12T18:31Z", "", "1790000000",
    ])
    func `an invalid time is refused`(time: String) throws {
        let error = try #require(throws: SurfaceError.self) { try snapshot(updatedAt: time).validated() }
        #expect(error.issues.map(\.path) == [["updatedAt"]])
    }

    @Test func `length is counted in UTF-16 code units`() throws {
        #expect(throws: Never.self) { try accessory(shortText: String(repeating: "🐦", count: 10)) }
        let error = try #require(throws: SurfaceError.self) {
            try accessory(shortText: String(repeating: "🐦", count: 11))
        }
        #expect(error.description.contains("22 UTF-16 code units"))
    }

    @Test(arguments: ["true", "\"0.5\"", "null", "1e999", "-0.1", "1.1", "[]"])
    func `a fraction that is not a number from 0 to 1 is refused`(number: String) {
        let text = SurfaceSnapshot.example(of: .widget).json.text
            .replacing(#""progress":0.5"#, with: #""progress":\#(number)"#)
        #expect(issues(text).count == 1)
        #expect(issues(text).first?.hasPrefix("widget.progress ") == true)
    }

    @Test(arguments: [("3.0", true), ("1.5", false), ("-1", false), ("9007199254740991", true), ("1e16", false)])
    func `a count is whole and not too large`(number: String, isRight: Bool) {
        let text = SurfaceSnapshot.example(of: .liveActivity).json.text
            .replacing(#""estimatedSeconds":600"#, with: #""estimatedSeconds":\#(number)"#)
        #expect(issues(text).isEmpty == isRight)
    }

    @Test func `validation refuses a fraction that is not a number`() throws {
        let error = try #require(throws: SurfaceError.self) {
            try widget { $0.progress = .nan }
        }
        #expect(error.issues.map(\.path) == [["widget", "progress"]])
    }

    @Test func `a StandBy view is a card by default`() throws {
        let text = SurfaceSnapshot.example(of: .standBy).json.text.replacing(#""presentation":"night","#, with: "")
        guard case .standBy(let snapshot) = try SurfaceSnapshot(parsing: Array(text.utf8)) else {
            Issue.record("not StandBy")
            return
        }
        #expect(snapshot.surface.presentation == .card)
        #expect(snapshot.json["standby"]?["presentation"] == "card")
    }

    @Test func `the error for a wrong kind names both kinds`() throws {
        let error = try #require(throws: WrongSurfaceKind.self) {
            try SurfaceSnapshot.example(of: .widget).asLiveActivity()
        }
        #expect(error.description.contains("liveActivity") && error.description.contains("widget"))
    }

    // MARK: Helpers

    private func widget(_ change: (inout WidgetSurface) -> Void) throws {
        guard case .widget(var snapshot) = SurfaceSnapshot.example(of: .widget) else { return }
        change(&snapshot.surface)
        _ = try SurfaceSnapshot.widget(snapshot).validated()
    }

    private func snapshot(updatedAt: String) -> SurfaceSnapshot {
        guard case .widget(var snapshot) = SurfaceSnapshot.example(of: .widget) else { return .example(of: .widget) }
        snapshot.updatedAt = SurfaceDate(rawValue: updatedAt)
        return .widget(snapshot)
    }

    private func accessory(shortText: String) throws {
        guard case .lockAccessory(var snapshot) = SurfaceSnapshot.example(of: .lockAccessory) else { return }
        snapshot.surface.shortText = shortText
        _ = try SurfaceSnapshot.lockAccessory(snapshot).validated()
    }
}
