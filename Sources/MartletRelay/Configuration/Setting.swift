internal import MartletCore
internal import MartletOutbox

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value of a configuration, with its path for error messages.
struct Setting {
    private let value: JSONValue?
    private let place: String
    /// The path as in ``SettingDescription``: the same for all elements of a list, and for both environments.
    private let pattern: String

    /// Creates the setting of a whole configuration.
    init(_ root: JSONValue) {
        self.init(root, at: "", pattern: "")
    }

    private init(_ value: JSONValue?, at place: String, pattern: String) {
        self.value = value
        self.place = place
        self.pattern = pattern
    }

    /// Returns the path of a member.
    func path(_ name: String) -> String { place.isEmpty ? name : place + "." + name }

    /// Whether the value exists.
    var isThere: Bool { value != nil }

    /// Checks that the value is an object whose members are all declared in ``SettingDescription``.
    func checkMembers() throws(RelayError) {
        try only(SettingDescription.names(in: pattern))
    }

    private func only(_ names: [String]) throws(RelayError) {
        guard let members = value?.members else {
            throw RelayError("\(place.isEmpty ? "it" : place) must be an object")
        }
        if let unknown = members.first(where: { !names.contains($0.name) }) {
            let known = names.joined(separator: ", ")
            throw RelayError("\(path(unknown.name)) is unknown; these are known: \(known)")
        }
    }

    /// Checks that all of these members exist, and at least one of the others.
    func demand(_ names: [String], oneOf others: [String]) throws(RelayError) {
        var missing = names.filter { !member($0).isThere }
        if !others.contains(where: { member($0).isThere }) { missing.append(others.joined(separator: " or ")) }
        guard !missing.isEmpty else { return }
        let list = missing.map(path).joined(separator: ", ")
        throw RelayError("\(list) \(missing.count == 1 ? "is" : "are") missing")
    }

    /// Returns a member, whether or not it exists.
    func member(_ name: String) -> Setting { member(name, pattern: name) }

    private func member(_ name: String, pattern: String) -> Setting {
        let pattern = self.pattern.isEmpty ? pattern : self.pattern + "." + pattern
        return Setting(value?[name], at: path(name), pattern: pattern)
    }

    /// Returns the elements of a list; empty when the member is missing.
    func list(_ name: String) throws(RelayError) -> [Setting] {
        guard let list = value?[name] else { return [] }
        guard let elements = list.elements else { throw RelayError("\(path(name)) must be a list") }
        let pattern = member(name).pattern + "[]"
        return elements.enumerated().map { Setting($1, at: "\(path(name)).\($0)", pattern: pattern) }
    }

    /// Returns a list of strings; empty when the member is missing.
    func texts(_ name: String) throws(RelayError) -> [String] {
        try list(name).map { (setting) throws(RelayError) in
            guard let text = setting.value?.stringValue else { throw RelayError("\(setting.place) must be a text") }
            return text
        }
    }

    /// Returns a string that must exist.
    func text(_ name: String) throws(RelayError) -> String {
        guard let text = try optionalText(name) else { throw RelayError("\(path(name)) is missing") }
        return text
    }

    /// Returns a string; nil when the member is missing.
    func optionalText(_ name: String) throws(RelayError) -> String? {
        guard let member = value?[name] else { return nil }
        guard let text = member.stringValue, !text.isEmpty else {
            throw RelayError("\(path(name)) must be a text that is not empty")
        }
        return text
    }

    /// Returns the hexadecimal digits of a SHA-256 in lower case, read with or without colons; nil when it is missing.
    func optionalHash(_ name: String) throws(RelayError) -> String? {
        guard let text = try optionalText(name) else { return nil }
        let hash = text.lowercased().filter { $0 != ":" }
        guard hash.utf8.count == 64, hash.utf8.allSatisfy(\.isHexadecimalDigit) else {
            throw RelayError("\(path(name)) must be the 64 hexadecimal digits of a SHA-256")
        }
        return hash
    }

    /// Returns a date or a time in UTC; nil when the member is missing.
    func optionalDate(_ name: String) throws(RelayError) -> Date? {
        guard let text = try optionalText(name) else { return nil }
        let time = text.utf8.contains(UInt8(ascii: "T")) ? text : text + "T00:00:00Z"
        // Foundation parses February 30 as March 2, so compare the text of the result.
        guard let date = try? Date(time, strategy: .iso8601),
            Timestamp.text(date.millisecondsSince1970) == time.dropLast() + ".000Z"
        else {
            throw RelayError(
                "\(path(name)) must be a date or a time in UTC, such as 2027-01-31 or 2027-01-31T12:00:00Z "
                    + "(found \"\(text)\")"
            )
        }
        return date
    }

    /// Returns one of several strings; nil when the member is missing.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ type: Choice.Type
    ) throws(RelayError) -> Choice? {
        guard let text = try optionalText(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw RelayError("\(path(name)) must be one of \(all), not \(text)")
        }
        return choice
    }

    /// Returns an integer within bounds; nil when the member is missing.
    func optionalNumber(_ name: String, _ range: ClosedRange<Int>) throws(RelayError) -> Int? {
        guard let member = value?[name] else { return nil }
        guard let number = member.integerValue.flatMap(Int.init(exactly:)), range.contains(number) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            throw RelayError("\(path(name)) must be a whole number from \(bounds)")
        }
        return number
    }

    /// Returns a number from 0 to 1; nil when the member is missing.
    func optionalShare(_ name: String) throws(RelayError) -> Double? {
        guard let member = value?[name] else { return nil }
        guard case .number(let number) = member, (0...1).contains(number.doubleValue) else {
            throw RelayError("\(path(name)) must be a number from 0 to 1")
        }
        return number.doubleValue
    }

    /// Returns `true` or `false`; false when the member is missing.
    func flag(_ name: String) throws(RelayError) -> Bool {
        switch value?[name] {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw RelayError("\(path(name)) must be true or false")
        }
    }

    /// Returns a value for each of Apple's environments that is a member; empty when the setting is missing.
    func byEnvironment<Value>(
        _ read: (Setting) throws(RelayError) -> Value
    ) throws(RelayError) -> [PushEnvironment: Value] {
        guard isThere else { return [:] }
        try only(PushEnvironment.allCases.map(\.rawValue))
        var values: [PushEnvironment: Value] = [:]
        for environment in PushEnvironment.allCases where value?[environment.rawValue] != nil {
            values[environment] = try read(member(environment.rawValue, pattern: "{environment}"))
        }
        return values
    }

    /// Returns the value itself as a string.
    func wholeText() throws(RelayError) -> String {
        guard let text = value?.stringValue else { throw RelayError("\(place) must be a text") }
        return text
    }

    /// The path of the value.
    var description: String { place }
}
