// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

/// The values of each user of a push request, which take the place of placeholders in the texts of the payload.
///
/// ```json
/// {"anna": {"name": "Anna", "orders": 2}, "bob": {"name": "Bob", "orders": 1}}
/// ```
struct PersonalValues {
    /// The maximum number of names.
    static let nameLimit = 20
    /// The maximum number of bytes of a value.
    static let byteLimit = 1_024

    /// The member of the request.
    let field: JSONField<APIProblem>
    /// The values as they are inside of strings in JSON.
    ///
    /// The keys are the bytes of the users: Swift takes some users for equal that are not.
    private var valuesOfUsers: [[UInt8]: [String: [UInt8]]] = [:]

    /// Reads the member `values` of a push to users; the error has the place of the first mistake.
    init(
        _ field: JSONField<APIProblem>,
        of request: JSONField<APIProblem>,
        for users: [String]
    ) throws(APIProblem) {
        self.field = field
        guard let members = field.members else { throw field.mismatch("an object") }
        var places: [String: JSONPath] = [:]
        for templates in [request["payload"], request["locales"]] {
            try Self.addPlaceholders(in: templates, to: &places)
        }
        guard places.count <= Self.nameLimit else {
            throw field.error("must have at most \(Self.nameLimit) names (the placeholders have \(places.count))")
        }
        let known = Set(users.map { Array($0.utf8) })
        for (user, values) in members {
            guard known.contains(Array(user.utf8)) else { throw values.error("must be left out: to has no such user") }
            valuesOfUsers[Array(user.utf8)] = try Self.texts(values, places)
        }
        if let user = users.first(where: { valuesOfUsers[Array($0.utf8)] == nil }) {
            throw field.error("must have a member for each user in to (\(ShownValue.quoted(user)) has none)")
        }
    }

    /// Adds the names of the placeholders in the texts of a value, with the place of the first text.
    private static func addPlaceholders(
        in field: JSONField<APIProblem>,
        to places: inout [String: JSONPath]
    ) throws(APIProblem) {
        switch field.value {
        case .string(let text)?:
            let template = PayloadTemplate(Array(text.utf8))
            guard template.isWellFormed else { throw field.error("must have placeholders of \(PayloadTemplate.rule)") }
            for name in template.counts.keys where places[name] == nil { places[name] = field.path }
        case .array?:
            for element in try field.elements() { try addPlaceholders(in: element, to: &places) }
        case .object?:
            for (name, member) in field.members ?? [] {
                guard !name.contains("{{") else {
                    throw field.error("must have placeholders only in texts, not in names of members")
                }
                try addPlaceholders(in: member, to: &places)
            }
        case .null?, .bool?, .number?, nil: break
        }
    }

    /// Reads the values of a user, one for each placeholder.
    private static func texts(
        _ values: JSONField<APIProblem>,
        _ places: [String: JSONPath]
    ) throws(APIProblem) -> [String: [UInt8]] {
        guard let members = values.members else { throw values.mismatch("an object") }
        var texts: [String: [UInt8]] = [:]
        for (name, value) in members {
            guard places[name] != nil else {
                throw value.error("must be left out: no text of payload or locales has a placeholder with this name")
            }
            switch value.value {
            case .string(let text)? where text.utf8.count <= byteLimit:
                texts[name] = Array(JSONValue.string(text).encoded().dropFirst().dropLast())
            case .number(let number)? where number.text.utf8.count <= byteLimit: texts[name] = Array(number.text.utf8)
            default: throw value.mismatch("a string of at most \(byteLimit) bytes, or a number")
            }
        }
        if let name = places.keys.sorted().first(where: { texts[$0] == nil }), let place = places[name] {
            throw values.error("must have the member \(ShownValue.quoted(name)), for the placeholder in \(place)")
        }
        return texts
    }

    /// Returns the values of a user.
    func texts(of user: String) -> [String: [UInt8]] { valuesOfUsers[Array(user.utf8)] ?? [:] }

    /// Returns the user with whose values a template has the most bytes.
    func longestUser(in template: PayloadTemplate) -> String? {
        let sizes = (field.members ?? []).map { ($0.name, template.byteCount(with: texts(of: $0.name))) }
        return sizes.max { $0.1 < $1.1 }?.0
    }
}
