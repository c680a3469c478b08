// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

/// The values of users in a push request, which take the place of placeholders in the texts of the payload.
///
/// ```json
/// {"anna": {"name": "Anna", "orders": 2}, "bob": {"name": "Bob", "orders": 1}}
/// ```
///
/// The member `default-values`, such as `{"name": "you"}`, has those that a user does not have.
struct PersonalValues {
    /// The maximum number of names.
    static let nameLimit = 20
    /// The maximum number of bytes of a value.
    static let byteLimit = 1_024
    /// The maximum number of users in a job, whose request is read with each page.
    static let jobUserLimit = 1_000
    /// The maximum number of bytes of the users in a job, with their names and values.
    static let jobByteLimit = 128 << 10

    /// The member with the values of users.
    let field: JSONField<APIProblem>
    /// The member with the values of the others.
    let defaultField: JSONField<APIProblem>
    /// The values as they are inside of strings in JSON.
    ///
    /// The keys are the bytes of the users: Swift takes some users for equal that are not.
    private var valuesOfUsers: [[UInt8]: [String: [UInt8]]] = [:]
    /// The values of the other users; nil when a placeholder has no default.
    private let valuesOfOthers: [String: [UInt8]]?

    /// Reads the members `values` and `default-values` of a push.
    ///
    /// - Parameters:
    ///   - first: The first of the two members that the push has.
    ///   - request: The push.
    ///   - users: The users to whom it goes; nil for a job, which sends to any.
    /// - Throws: ``APIProblem`` with the place of the first mistake.
    init(
        _ first: JSONField<APIProblem>,
        of request: JSONField<APIProblem>,
        for users: [String]?
    ) throws(APIProblem) {
        field = request["values"]
        defaultField = request["default-values"]
        guard let members = field.isPresent ? field.members : [] else { throw field.mismatch("an object") }
        var places: [String: JSONPath] = [:]
        for templates in [request["payload"], request["locales"]] {
            try Self.addPlaceholders(in: templates, to: &places)
        }
        guard places.count <= Self.nameLimit else {
            throw first.error("must have at most \(Self.nameLimit) names (the placeholders have \(places.count))")
        }
        let defaults = try defaultField.isPresent ? Self.texts(defaultField, places) : [:]
        let names = places.keys.sorted()
        if !field.isPresent, let name = names.first(where: { defaults[$0] == nil }), let place = places[name] {
            throw defaultField.missing(name, for: place)
        }
        valuesOfOthers = names.allSatisfy { defaults[$0] != nil } ? defaults : nil
        let known = users.map { Set($0.map { Array($0.utf8) }) }
        var byteCount = 0
        for (user, values) in members {
            let key = Array(user.utf8)
            guard known?.contains(key) ?? true else { throw values.error("must be left out: to has no such user") }
            let own = try Self.texts(values, places)
            let all = defaults.merging(own) { $1 }
            if let name = names.first(where: { all[$0] == nil }), let place = places[name] {
                throw values.missing(name, for: place)
            }
            valuesOfUsers[key] = all
            byteCount += own.reduce(key.count) { $0 + $1.key.utf8.count + $1.value.count }
        }
        if let users { try checkUsers(users) } else { try checkSize(members.count, byteCount) }
    }

    /// Checks that all users have values.
    private func checkUsers(_ users: [String]) throws(APIProblem) {
        if let user = users.first(where: { texts(of: $0) == nil }) {
            throw field.error("must have a member for each user in to (\(ShownValue.quoted(user)) has none)")
        }
    }

    /// Checks the size of the values in a job, by the numbers of users and bytes.
    private func checkSize(_ users: Int, _ bytes: Int) throws(APIProblem) {
        guard users <= Self.jobUserLimit, bytes <= Self.jobByteLimit else {
            throw field.error(
                "must have at most \(Self.jobUserLimit) users and \(Self.jobByteLimit) bytes in a push to many"
                    + " (found \(users) users and \(bytes) bytes)"
            )
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

    /// Reads the values of a user.
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
        return texts
    }

    /// Returns a value of a user for each placeholder; nil for a user without one of them.
    func texts(of user: String) -> [String: [UInt8]]? { valuesOfUsers[Array(user.utf8)] ?? valuesOfOthers }

    /// Returns the values with which a template has the most bytes, and their member of the request; nil for none.
    func longest(in template: PayloadTemplate) -> (texts: [String: [UInt8]], field: JSONField<APIProblem>)? {
        var candidates: [(texts: [String: [UInt8]], field: JSONField<APIProblem>)] = []
        for (user, values) in field.members ?? [] {
            if let texts = valuesOfUsers[Array(user.utf8)] { candidates.append((texts, values)) }
        }
        if defaultField.isPresent, let valuesOfOthers { candidates.append((valuesOfOthers, defaultField)) }
        let sizes = candidates.map { template.byteCount(with: $0.texts) }
        return zip(sizes, candidates).max { $0.0 < $1.0 }?.1
    }

    /// Returns the stored request of a job without the values of a user; nil for one that has none.
    static func request(_ request: [UInt8], without user: String) -> [UInt8]? {
        guard var members = (try? JSONReader.read(request))?.members,
            let index = members.firstIndex(where: { $0.name == "values" }),
            let values = members[index].value.members
        else { return nil }
        let others = values.filter { !$0.name.utf8.elementsEqual(user.utf8) }
        guard others.count < values.count else { return nil }
        members[index].value = .object(others)
        return JSONValue.object(members).encoded()
    }
}

extension JSONField<APIProblem> {
    /// Returns the error for values without the one of a placeholder.
    fileprivate func missing(_ name: String, for place: JSONPath) -> APIProblem {
        error("must have the member \(ShownValue.quoted(name)), for the placeholder in \(place)")
    }
}
