internal import APNs

/// What an app says for a key in one language.
enum LocalizedString: Sendable, Hashable {
    /// The categories of numbers that languages know (Unicode CLDR).
    enum PluralCategory: String, CaseIterable {
        case zero, one, two, few, many, other
    }

    case plain(String)
    case plural([PluralCategory: String])

    /// A text, or an object of texts by category.
    var json: JSONValue {
        switch self {
        case .plain(let text): .string(text)
        case .plural(let forms):
            .object(
                PluralCategory.allCases.compactMap { category in
                    forms[category].map { .init(category.rawValue, .string($0)) }
                }
            )
        }
    }

    fileprivate var byteCount: Int {
        switch self {
        case .plain(let text): text.utf8.count
        case .plural(let forms): forms.values.reduce(0) { $0 + $1.utf8.count }
        }
    }
}

/// The texts of apps by language, so that keys in pushes can be told in words.
struct LocalizedTables: Sendable {
    /// Tables of all apps together, and bytes in them.
    static let tableLimit = 500
    static let byteLimit = 16 << 20

    /// The tables by language, by app.
    private(set) var apps: [String: [String: [String: LocalizedString]]] = [:]
    private var byteCounts: [String: [String: Int]] = [:]

    /// Whether a text looks like the name of a language (BCP 47), or is Apple's `Base`.
    static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return text.utf8.count <= 35 && parts.first.map { (2...8).contains($0.utf8.count) } == true
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.count <= 8 && part.utf8.allSatisfy { $0.isLetterOrDigit }
            }
    }

    /// Puts a table in place of an older one.
    mutating func set(_ table: [String: LocalizedString], _ language: String, of app: String) throws(PreviewsFull) {
        var others = self
        others.remove(language, of: app)
        let size = table.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        let counts = others.byteCounts.values.flatMap(\.values)
        guard counts.count < LocalizedTables.tableLimit, counts.reduce(size, +) <= LocalizedTables.byteLimit else {
            throw PreviewsFull("there are \(counts.count) tables of strings already: remove some first")
        }
        others.apps[app, default: [:]][language] = table
        others.byteCounts[app, default: [:]][language] = size
        self = others
    }

    /// Puts all tables of an app in place of those there were, or changes nothing.
    mutating func set(_ tables: [String: [String: LocalizedString]], of app: String) throws(PreviewsFull) {
        var others = self
        others.remove(of: app)
        for (language, table) in tables { try others.set(table, language, of: app) }
        self = others
    }

    /// Forgets a table; false when there is none.
    @discardableResult
    mutating func remove(_ language: String, of app: String) -> Bool {
        byteCounts[app]?[language] = nil
        let hasBeen = apps[app]?.removeValue(forKey: language) != nil
        if apps[app]?.isEmpty == true { remove(of: app) }
        return hasBeen
    }

    /// Forgets all tables of an app; false when there are none.
    @discardableResult
    mutating func remove(of app: String) -> Bool {
        byteCounts[app] = nil
        return apps.removeValue(forKey: app) != nil
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
