// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

@Suite struct NotificationCategoriesTests {
    @Test func `categories come back from JSON as they were`() throws {
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

    @Test func `everything wrong with them is said`() throws {
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
}
