// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

/// Tests of notifications whose texts are keys of the app's strings.
@Suite struct LocalizedTextTests {
    private static func notification(
        title: SurfaceText = "Order ready",
        subtitle: SurfaceText? = nil,
        body: SurfaceText = "Tap to open."
    ) -> NotificationSnapshot {
        Snapshot(
            id: "order-17@4",
            surfaceID: "order-17",
            updatedAt: "2026-05-12T18:31:00.000Z",
            state: .attention,
            surface: NotificationSurface(title: title, subtitle: subtitle, body: body, deepLink: "shop://orders/17")
        )
    }

    private static let localized = notification(
        title: .localized(key: "ORDER_READY"),
        subtitle: .localized(key: "ORDER", arguments: ["17"]),
        body: .localized(key: "PICK_UP", arguments: ["Anna", "18:00"])
    )

    @Test func `keys and arguments are decoded from JSON as they were encoded`() throws {
        let snapshot = SurfaceSnapshot.notification(Self.localized)
        #expect(try SurfaceSnapshot(parsing: snapshot.json.encoded()) == snapshot)
        #expect(snapshot.json["notification"]?["title"]?.text == #"{"key":"ORDER_READY"}"#)
        #expect(
            snapshot.json["notification"]?["body"]?.text == #"{"key":"PICK_UP","arguments":["Anna","18:00"]}"#
        )
    }

    @Test func `keys are written with Apple's names, each with its arguments`() throws {
        #expect(
            Self.localized.payload["aps"]?["alert"]?.text
                == #"{"title-loc-key":"ORDER_READY","subtitle-loc-key":"ORDER","subtitle-loc-args":["17"],"#
                + #""loc-key":"PICK_UP","loc-args":["Anna","18:00"]}"#
        )
        let mixed = Self.notification(title: .localized(key: "ORDER_READY"), body: "Tap to open.")
        #expect(
            mixed.payload["aps"]?["alert"]?.text == #"{"title-loc-key":"ORDER_READY","body":"Tap to open."}"#
        )
    }

    @Test func `texts without keys are written as in version 5`() throws {
        #expect(
            Self.notification(subtitle: "For you").payload.text
                == #"{"schemaVersion":"5","aps":{"alert":{"title":"Order ready","subtitle":"For you","#
                + #""body":"Tap to open."},"sound":"default"},"liveSurface":{"schemaVersion":"5","#
                + #""kind":"surface_snapshot","snapshotId":"order-17@4","surfaceId":"order-17","state":"attention","#
                + #""deepLink":"shop://orders/17"}}"#
        )
    }

    @Test(arguments: [
        (#"{"key":""}"#, ["notification", "title", "key"], SurfaceIssue.Code.tooSmall),
        (#"{"key":7}"#, ["notification", "title", "key"], .invalidType),
        (#"{"arguments":["a"]}"#, ["notification", "title"], .invalidType),
        (#"{"key":"A","arguments":"a"}"#, ["notification", "title", "arguments"], .invalidType),
        (#"{"key":"A","arguments":[1]}"#, ["notification", "title", "arguments"], .invalidType),
        (#"{"key":"A","args":[]}"#, ["notification", "title"], .unrecognizedKeys),
    ]) func `a wrong object is refused in its place`(title: String, path: [String], code: SurfaceIssue.Code) throws {
        let text = Self.notification().payloadlessJSON.replacing(#""title":"Order ready""#, with: #""title":\#(title)"#)
        let error = try #require(throws: SurfaceError.self) { try SurfaceSnapshot(parsing: Array(text.utf8)) }
        #expect(error.issues.map(\.path) == [path])
        #expect(error.issues.map(\.code) == [code])
    }

    private static let catalog = """
        {"sourceLanguage":"en","version":"1.0","strings":{
        "ORDER_READY":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"Order ready"}},
        "de":{"stringUnit":{"state":"translated","value":"Bestellung fertig"}}}},
        "ORDER":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"Order %@"}},
        "de":{"stringUnit":{"state":"translated","value":"Bestellung %@"}}}},
        "PICK_UP":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"%1$@, pick it up until %2$@."}},
        "de":{"stringUnit":{"state":"translated","value":"%2$@ ist Abholzeit, %1$@. 100%% sicher."}}}},
        "COUNT":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"%lld orders"}},
        "de":{"stringUnit":{"state":"translated","value":"%@ Bestellungen"}}}},
        "NEW":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"New"}}}}}}
        """

    @Test func `a catalog with every key and argument has no issues`() throws {
        let strings = try SurfaceStrings(parsing: Array(Self.catalog.utf8))
        #expect(strings.languages == ["de", "en"])
        #expect(strings.issues(in: Self.localized.surface).isEmpty)
        #expect(strings.issues(in: Self.notification().surface).isEmpty)
    }

    @Test func `missing strings, missing arguments and numbers are found, with the language`() throws {
        let strings = try SurfaceStrings(parsing: Array(Self.catalog.utf8))
        let wrong = Self.notification(
            title: .localized(key: "NEW"),
            subtitle: .localized(key: "PICK_UP", arguments: ["Anna"]),
            body: .localized(key: "COUNT", arguments: ["3"])
        )
        #expect(
            strings.issues(in: wrong.surface).map { "\($0.path.joined(separator: ".")): \($0.message)" } == [
                "notification.title: NEW has no string in de",
                "notification.subtitle: PICK_UP in de needs 2 arguments, and the push has 1",
                "notification.subtitle: PICK_UP in en needs 2 arguments, and the push has 1",
                "notification.body: COUNT in en contains %lld: the arguments of a push are strings, which need %@",
            ]
        )
        #expect(throws: SurfaceError.self) { try strings.checked(wrong) }
    }

    @Test func `the alert of a payload is checked as well`() throws {
        let strings = try SurfaceStrings(parsing: Array(Self.catalog.utf8))
        let alert = try JSONReader.read(
            Array(#"{"title-loc-key":"OLD","loc-key":"ORDER","loc-args":["17"],"body":{"loc-key":"NEW"}}"#.utf8)
        )
        #expect(
            strings.issues(inAlert: alert).map { "\($0.path.joined(separator: ".")): \($0.message)" } == [
                "title-loc-key: OLD has no string in de", "title-loc-key: OLD has no string in en",
                "body.loc-key: NEW has no string in de",
            ]
        )
    }
}

extension NotificationSnapshot {
    /// The snapshot as JSON text.
    fileprivate var payloadlessJSON: String { json.text }
}
