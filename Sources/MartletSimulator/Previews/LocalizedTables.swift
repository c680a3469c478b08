// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces

/// The localized strings of apps by language, used to resolve localization keys in pushes.
struct LocalizedTables: Sendable {
    /// The maximum number of tables and bytes of all apps together.
    static let tableLimit = 500
    static let byteLimit = 16 << 20

    /// The tables by language, for each app.
    private(set) var apps: [String: [String: [String: LocalizedString]]] = [:]
    private var byteCounts: [String: [String: Int]] = [:]

    /// Returns whether a string has the form of a language tag (BCP 47), or is Apple's `Base`.
    static func isLanguage(_ text: String) -> Bool { LocalizedString.isLanguage(text) }

    /// Sets the table of a language, replacing an existing one.
    ///
    /// - Throws: ``SimulatorError`` when a limit would be exceeded.
    mutating func set(_ table: [String: LocalizedString], _ language: String, of app: String) throws(SimulatorError) {
        var others = self
        others.remove(language, of: app)
        let size = table.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        let counts = others.byteCounts.values.flatMap(\.values)
        guard counts.count < LocalizedTables.tableLimit, counts.reduce(size, +) <= LocalizedTables.byteLimit else {
            throw SimulatorError(
                "the limit of \(LocalizedTables.tableLimit) tables of strings or \(LocalizedTables.byteLimit) bytes is"
                    + " reached: remove some first"
            )
        }
        others.apps[app, default: [:]][language] = table
        others.byteCounts[app, default: [:]][language] = size
        self = others
    }

    /// Replaces all tables of an app; changes nothing when it throws.
    mutating func set(_ tables: [String: [String: LocalizedString]], of app: String) throws(SimulatorError) {
        var others = self
        others.remove(of: app)
        for (language, table) in tables { try others.set(table, language, of: app) }
        self = others
    }

    /// Removes a table; returns false when there is none.
    @discardableResult
    mutating func remove(_ language: String, of app: String) -> Bool {
        byteCounts[app]?[language] = nil
        let existed = apps[app]?.removeValue(forKey: language) != nil
        if apps[app]?.isEmpty == true { remove(of: app) }
        return existed
    }

    /// Removes all tables of an app; returns false when there are none.
    @discardableResult
    mutating func remove(of app: String) -> Bool {
        byteCounts[app] = nil
        return apps.removeValue(forKey: app) != nil
    }
}
