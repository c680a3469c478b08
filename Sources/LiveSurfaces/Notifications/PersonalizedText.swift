// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// Texts of a notification with placeholders such as `{firstName}`, which the phone fills with values that only it
/// knows.
///
/// The alert of the push has general texts. The service extension replaces a text only if it has a value for every
/// placeholder in it, so a phone without the values shows the general text.
public struct PersonalizedText: Sendable, Hashable, Codable {
    /// The first line; nil to keep the alert's.
    public var title: String?
    /// The line below the title; nil to keep the alert's.
    public var subtitle: String?
    /// The text; nil to keep the alert's.
    public var body: String?

    /// Creates texts.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    /// The texts as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue { .object(of: ["title": title, "subtitle": subtitle, "body": body]) }

    init(reading fields: inout FieldReader) {
        title = fields.optional("title", .nonEmptyText)
        subtitle = fields.optional("subtitle", .nonEmptyText)
        body = fields.optional("body", .nonEmptyText)
    }

    /// Fills the placeholders of a text.
    ///
    /// - Parameters:
    ///   - text: The text; a brace that does not enclose a name stays as it is.
    ///   - values: The values by name.
    /// - Returns: The text; without a value for each placeholder, the first name without one.
    static func fill(_ text: String, with values: [String: String]) -> Filled {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            let inside = rest[rest.index(after: open)...]
            let name = inside.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            guard !name.isEmpty, name.endIndex < inside.endIndex, inside[name.endIndex] == "}" else {
                result += "{"
                rest = inside
                continue
            }
            guard let value = values[String(name)] else { return .missing(String(name)) }
            result += value
            rest = inside[inside.index(after: name.endIndex)...]
        }
        return .text(result + rest)
    }

    /// The result of filling placeholders.
    enum Filled: Hashable {
        case text(String)
        case missing(String)
    }
}
