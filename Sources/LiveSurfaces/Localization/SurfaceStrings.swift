// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The localized strings of an app, with which the keys in snapshots and alerts are checked.
///
/// The phone replaces each key with the string of the user's language, and each `%@` in it with an argument. A key that
/// the app does not have is shown as it is, so a server should find it before it sends.
public struct SurfaceStrings: Sendable, Hashable {
    /// The strings by key, for each language.
    package let tables: [String: [String: LocalizedString]]

    /// The languages, in alphabetical order.
    public var languages: [String] { tables.keys.sorted() }

    /// Creates strings from tables.
    ///
    /// - Parameter tables: The strings by key, for each language.
    package init(tables: [String: [String: LocalizedString]]) {
        self.tables = tables
    }

    /// Parses a string catalog (`.xcstrings`), with all its languages.
    ///
    /// - Parameter catalog: The text in UTF-8.
    /// - Throws: ``SurfaceError`` with the place of the first error.
    public init(parsing catalog: [UInt8]) throws(SurfaceError) {
        try self.init(catalog: SurfaceSnapshot.value(of: catalog))
    }

    /// Reads a string catalog that was parsed before.
    ///
    /// - Parameter catalog: The catalog.
    /// - Throws: ``SurfaceError`` with the place of the first error.
    package init(catalog: JSONValue) throws(SurfaceError) {
        self.init(tables: try StringCatalog.read(catalog))
    }

    /// Checks the texts of a notification.
    ///
    /// - Parameter notification: The content.
    /// - Returns: An error for each language that lacks a key, or whose string does not suit the arguments; empty if
    ///   the phone can show each text in each language.
    public func issues(in notification: NotificationSurface) -> [SurfaceIssue] {
        let texts: [(String, SurfaceText?)] = [
            ("title", notification.title), ("subtitle", notification.subtitle), ("body", notification.body),
        ]
        return texts.flatMap { name, text -> [SurfaceIssue] in
            guard case .localized(let key, let arguments) = text else { return [] }
            return issues(of: key, argumentCount: arguments.count, at: [SurfaceKind.notification.rawValue, name])
        }
    }

    /// Returns a notification whose texts the phone can show in each language.
    ///
    /// - Parameter snapshot: The notification.
    /// - Returns: The same snapshot.
    /// - Throws: ``SurfaceError`` with all errors.
    public func checked(_ snapshot: NotificationSnapshot) throws(SurfaceError) -> SurfaceSnapshot {
        let issues = issues(in: snapshot.surface)
        guard issues.isEmpty else { throw SurfaceError(issues) }
        return .notification(snapshot)
    }

    /// Checks the keys in the `alert` of a payload, of a notification or a Live Activity.
    package func issues(inAlert alert: JSONValue) -> [SurfaceIssue] {
        let notification = ["title-loc-key", "subtitle-loc-key", "loc-key"].flatMap { name in
            issues(of: alert[name], alert[name.replacing("key", with: "args")], at: [name])
        }
        let activity = ["title", "body"].flatMap { name in
            issues(of: alert[name]?["loc-key"], alert[name]?["loc-args"], at: [name, "loc-key"])
        }
        return notification + activity
    }

    private func issues(of key: JSONValue?, _ arguments: JSONValue?, at path: [String]) -> [SurfaceIssue] {
        guard let key = key?.stringValue else { return [] }
        return issues(of: key, argumentCount: arguments?.elements?.count ?? 0, at: path)
    }

    private func issues(of key: String, argumentCount: Int, at path: [String]) -> [SurfaceIssue] {
        languages.compactMap { language in
            guard let string = tables[language]?[key] else {
                return SurfaceIssue(code: .invalidValue, path: path, message: "\(key) has no string in \(language)")
            }
            guard let reason = string.forms.lazy.compactMap({ FormatString($0).flaw(argumentCount) }).first else {
                return nil
            }
            return SurfaceIssue(code: .invalidValue, path: path, message: "\(key) in \(language) \(reason)")
        }
    }
}

/// The placeholders of a localized string.
///
/// Source: "String Format Specifiers" in Apple's String Programming Guide. The arguments in a push are strings, which
/// only `%@` takes.
struct FormatString {
    /// The number of arguments that the string needs.
    private(set) var argumentCount = 0
    /// The first placeholder that does not take a string; nil if there is none.
    private(set) var unsuitable: String?

    init(_ text: String) {
        var next = 0
        var rest = Substring(text).unicodeScalars[...]
        while let sign = rest.popFirst() {
            guard sign == "%" else { continue }
            if rest.first == "%" {
                rest.removeFirst()
                continue
            }
            var placeholder = "%"
            var digits = ""
            var position: Int?
            while let scalar = rest.first, "0123456789$-+ #.hlqLztj".unicodeScalars.contains(scalar) {
                rest.removeFirst()
                placeholder.unicodeScalars.append(scalar)
                if scalar == "$" { position = Int(digits) }
                digits = ("0"..."9").contains(scalar) ? digits + String(scalar) : ""
            }
            guard let conversion = rest.popFirst() else { return }
            placeholder.unicodeScalars.append(conversion)
            next += position == nil ? 1 : 0
            argumentCount = max(argumentCount, position ?? next)
            if conversion != "@" || placeholder.contains("#") { unsuitable = unsuitable ?? placeholder }
        }
    }

    /// Returns what is wrong with the string for a number of arguments; nil if nothing is.
    func flaw(_ count: Int) -> String? {
        if let unsuitable { return "contains \(unsuitable): the arguments of a push are strings, which need %@" }
        return argumentCount > count ? "needs \(argumentCount.counted("argument")), and the push has \(count)" : nil
    }
}
