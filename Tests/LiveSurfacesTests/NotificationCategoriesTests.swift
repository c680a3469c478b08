// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Testing

@Suite struct NotificationCategoriesTests {
    @Test func `categories are decoded from JSON as they were encoded`() throws {
        let categories = try NotificationCategories([
            .init(
                id: "orders.ready",
                description: "An order can be fetched.",
                actions: [
                    .init(id: "open", title: "Open", isForeground: true),
                    .init(id: "cancel_order", title: "Cancel", isDestructive: true, requiresAuthentication: true),
                ]
            ),
            .init(id: "news", description: "News."),
        ])
        #expect(try NotificationCategories(parsing: categories.json.encoded()) == categories)
        #expect(categories.ids == ["orders.ready", "news"])
    }

    @Test func `all issues are reported with their paths`() throws {
        let action = NotificationCategories.Action(id: "Open", title: "")
        let error = try #require(throws: SurfaceError.self) {
            try NotificationCategories([
                .init(id: "a..b", description: "", actions: [action]),
                .init(id: "b", description: "B", actions: Array(repeating: .init(id: "a", title: "A"), count: 11)),
                .init(id: "b", description: "B"),
            ])
        }
        #expect(
            error.issues.map { "\($0.path.joined(separator: ".")) \($0.code.rawValue)" } == [
                "categories.0.id invalid_format", "categories.0.description too_small",
                "categories.0.actions.0.id invalid_format", "categories.0.actions.0.title too_small",
                "categories.1.actions too_big", "categories invalid_value",
            ]
        )
        #expect(throws: SurfaceError.self) { try NotificationCategories([]) }
    }

    @Test func `the schema knows the app's categories`() throws {
        let categories = try NotificationCategories([.init(id: "news", description: "News.")])
        #expect(SurfaceSchema.document(categories: categories).text.contains(#""category":{"enum":["news"]}"#))
    }

    @Test func `the property list names every category in order`() throws {
        let categories = try NotificationCategories([
            .init(id: "orders.ready", description: "An order can be fetched."), .init(id: "news", description: "News."),
        ])
        let data = Data(categories.contentExtensionPropertyList.utf8)
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        let entry = try #require((list as? [String: Any])?["NSExtension"] as? [String: Any])
        #expect(entry["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.content-extension")
        let attributes = try #require(entry["NSExtensionAttributes"] as? [String: Any])
        #expect(attributes["UNNotificationExtensionCategory"] as? [String] == ["orders.ready", "news"])
        #expect(attributes["UNNotificationExtensionInitialContentSizeRatio"] as? Double == 0.4)
    }

    @Test func `a notification must be of a category of the app`() throws {
        let categories = try NotificationCategories([.init(id: "news", description: "News.")])
        let snapshot = SurfaceExample.notificationAlert.snapshot
        let error = try #require(throws: SurfaceError.self) { try snapshot.validated(categories: categories) }
        #expect(error.issues.map(\.path) == [["notification", "category"]])
        #expect(try snapshot.validated() == snapshot)
    }

    @Test(arguments: [
        (#"{"schemaVersion":"2","categories":[]}"#, "schemaVersion"), (#"{"categories":[]}"#, "schemaVersion"),
        (
            #"{"schemaVersion":"1","categories":[{"id":"a","description":"A","actions":[],"icon":"x"}]}"#,
            "categories.0"
        ),
        (
            #"{"schemaVersion":"1","categories":[{"id":"a","description":"A","actions":[{"id":"b","title":"B","#
                + #""options":{"foreground":"yes"}}]}]}"#, "categories.0.actions.0.options.foreground"
        ),
    ])
    func `a mistake in the file is reported with its path`(text: String, path: String) throws {
        let error = try #require(throws: SurfaceError.self) { try NotificationCategories(parsing: Array(text.utf8)) }
        #expect(error.issues.map { $0.path.joined(separator: ".") }.contains(path), "\(error)")
    }
}
