// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

@Suite struct MigrationTests {
    private let four = """
        {"schemaVersion":"4","id":"a@1","surfaceId":"a","kind":"notification","updatedAt":"2026-05-12T18:31Z",\
        "state":"active","notification":{"title":"T","body":"","deepLink":"a://","category":"CATEGORY","threadId":""}}
        """

    @Test func `empty values of version 4 are omitted`() throws {
        let bytes = Array(four.replacing("CATEGORY", with: "").utf8)
        let notification = try SurfaceSnapshot.parse(anyVersion: bytes).snapshot.asNotification()
        #expect(notification.surface.category == nil && notification.surface.threadID == nil)
    }

    @Test func `a category that the app does not know is refused in an old snapshot, too`() throws {
        let error = try #require(throws: SurfaceError.self) {
            try SurfaceSnapshot.parse(anyVersion: Array(four.utf8))
        }
        #expect(error.issues.map(\.path) == [["notification", "category"]])
        let own = try NotificationCategories([.init(id: "category", description: "The app's own.")])
        let bytes = Array(four.replacing("CATEGORY", with: "category").utf8)
        #expect(throws: Never.self) { try SurfaceSnapshot.parse(anyVersion: bytes, categories: own) }
    }

    @Test func `a snapshot of today has no warning`() throws {
        let example = SurfaceSnapshot.example(of: .widget)
        let migrated = try SurfaceSnapshot.parse(anyVersion: example.json.encoded())
        #expect(migrated.snapshot == example)
        #expect(migrated.warning == nil)
    }

    @Test(arguments: [#"{"schemaVersion":"6","kind":"widget"}"#, #"{"kind":"widget"}"#, #"{"schemaVersion":5}"#])
    func `an unknown version is checked like the current one`(text: String) throws {
        let error = try #require(throws: SurfaceError.self) {
            try SurfaceSnapshot.parse(anyVersion: Array(text.utf8))
        }
        #expect(error.issues.contains { $0.path == ["schemaVersion"] || $0.path == ["kind"] })
    }

    @Test func `an old snapshot with a member too many is refused`() throws {
        let text = #"{"schemaVersion":"3","kind":"widget","widget":{"color":1},"zz":1}"#
        let error = try #require(throws: SurfaceError.self) {
            try SurfaceSnapshot.parse(anyVersion: Array(text.utf8))
        }
        let unknown = error.issues.filter { $0.code == .unrecognizedKeys }.map(\.path)
        #expect(unknown == [["widget"], []])
    }
}
