// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The notification categories of an app, with the actions of each.
///
/// A server validates the categories it sends with this value, and the app registers the same value.
public struct NotificationCategories: Sendable, Hashable {
    /// A notification category.
    public struct Category: Sendable, Hashable {
        /// The identifier, in lower case with dots between parts, as in `orders.ready`.
        public let id: String
        /// The purpose; never sent.
        public let description: String
        /// The actions of notifications in this category, at most ten.
        public let actions: [Action]

        /// Creates a category.
        public init(id: String, description: String, actions: [Action] = []) {
            self.id = id
            self.description = description
            self.actions = actions
        }
    }

    /// An action of a notification.
    public struct Action: Sendable, Hashable {
        /// The identifier, in lower case.
        public let id: String
        /// The label of the button.
        public let title: String
        /// Whether the action opens the app.
        public let isForeground: Bool
        /// Whether the action is destructive.
        public let isDestructive: Bool
        /// Whether the device must be unlocked for the action.
        public let requiresAuthentication: Bool

        /// Creates an action.
        public init(
            id: String,
            title: String,
            isForeground: Bool = false,
            isDestructive: Bool = false,
            requiresAuthentication: Bool = false
        ) {
            self.id = id
            self.title = title
            self.isForeground = isForeground
            self.isDestructive = isDestructive
            self.requiresAuthentication = requiresAuthentication
        }
    }

    /// The categories, in their original order.
    public let categories: [Category]

    /// A single category without actions, `surface-update`, which any surface notification may use.
    public static let standard = NotificationCategories(
        checked: [Category(id: "surface-update", description: "A surface has changed.")]
    )

    /// The identifiers of the categories.
    public var ids: [String] { categories.map(\.id) }

    /// Creates and validates the categories of an app.
    ///
    /// - Parameter categories: At least one category; identifiers must be unique.
    /// - Throws: ``SurfaceError`` with all errors.
    public init(_ categories: [Category]) throws(SurfaceError) {
        try self.init(NotificationCategories(checked: categories).json)
    }

    /// Parses categories from JSON text, `{"schemaVersion": "1", "categories": […]}`.
    ///
    /// - Parameter bytes: The text in UTF-8.
    /// - Throws: ``SurfaceError`` with all errors.
    public init(parsing bytes: [UInt8]) throws(SurfaceError) {
        try self.init(SurfaceSnapshot.value(of: bytes))
    }

    private init(checked categories: [Category]) {
        self.categories = categories
    }

    private init(_ json: JSONValue) throws(SurfaceError) {
        guard let members = json.members else { throw SurfaceError(.invalidType, json.mismatch("an object")) }
        var reader = FieldReader(members, categories: NotificationCategories(checked: []))
        _ = reader.required("schemaVersion", .literal("1"))
        let categories = reader.list("categories", count: 1...1_000) { Category(reading: &$0) }
        if Set(categories.map(\.id)).count < categories.count {
            reader.report(.invalidValue, "categories", "has a name twice")
        }
        reader.finish()
        guard reader.issues.isEmpty else { throw SurfaceError(reader.issues) }
        self.categories = categories
    }

    /// The categories as JSON.
    public var json: JSONValue {
        ["schemaVersion": "1", "categories": .array(categories.map(\.json))]
    }
}

extension NotificationCategories.Category {
    fileprivate init(reading fields: inout FieldReader) {
        id = fields.required("id", .categoryName)
        description = fields.required("description", .nonEmptyText)
        actions = fields.list("actions", count: 0...10) { NotificationCategories.Action(reading: &$0) }
    }

    fileprivate var json: JSONValue {
        ["id": .string(id), "description": .string(description), "actions": .array(actions.map(\.json))]
    }
}

extension NotificationCategories.Action {
    fileprivate init(reading fields: inout FieldReader) {
        id = fields.required("id", .actionName)
        title = fields.required("title", .nonEmptyText)
        var options = (foreground: false, destructive: false, authentication: false)
        if fields.has("options") {
            options = fields.object("options") { inner in
                (
                    inner.optional("foreground", .flag) ?? false, inner.optional("destructive", .flag) ?? false,
                    inner.optional("authenticationRequired", .flag) ?? false
                )
            }
        }
        isForeground = options.foreground
        isDestructive = options.destructive
        requiresAuthentication = options.authentication
    }

    fileprivate var json: JSONValue {
        let options = JSONValue.object(of: [
            "foreground": isForeground ? true : nil, "destructive": isDestructive ? true : nil,
            "authenticationRequired": requiresAuthentication ? true : nil,
        ])
        return .object(of: ["id": id, "title": title, "options": options == [:] ? nil : options])
    }
}

extension Rule where Value == String {
    fileprivate static let actionName = formatted(
        pattern: "^[a-z][a-z0-9_]*$",
        "lower-case letters, digits and _, a letter first"
    ) { isName($0.utf8[...], with: "_") }

    fileprivate static let categoryName = formatted(
        pattern: #"^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$"#,
        "lower-case letters, digits, _ and -, a letter first, with dots between parts"
    ) { text in
        text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { isName($0, with: "_-") }
    }

    /// Whether the text is a letter, followed by letters, digits and these signs; all letters are lower-case.
    private static func isName(_ text: Substring.UTF8View, with signs: String) -> Bool {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        return text.first.map(letters.utf8.contains) == true
            && text.allSatisfy((letters + "0123456789" + signs).utf8.contains)
    }
}
