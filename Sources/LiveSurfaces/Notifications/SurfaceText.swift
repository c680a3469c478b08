// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A text of a notification: text as it is shown, or the key of a string in the app with its arguments.
///
/// In a snapshot it is a string, or an object such as `{"key": "ORDER_READY", "arguments": ["17"]}`; in a payload, a
/// key becomes `title-loc-key`, `subtitle-loc-key` or `loc-key`.
public typealias SurfaceText = LiveActivityAlert.Text

extension SurfaceText {
    /// The text as JSON in a snapshot.
    var snapshotJSON: JSONValue {
        switch self {
        case .plain(let text): .string(text)
        case .localized(let key, let arguments):
            .object(of: ["key": key, "arguments": arguments.isEmpty ? nil : JSONValue.strings(arguments)])
        }
    }

    /// Returns the members of the text in the alert of a payload.
    ///
    /// - Parameter name: `title`, `subtitle` or `body`.
    /// - Returns: One member, or a key with its arguments.
    func alertMembers(_ name: String) -> [JSONValue.Member] {
        switch self {
        case .plain(let text): return [.init(name, .string(text))]
        case .localized(let key, let arguments):
            let prefix = name == "body" ? "" : name + "-"
            let values = arguments.isEmpty ? [] : [JSONValue.Member(prefix + "loc-args", .strings(arguments))]
            return [.init(prefix + "loc-key", .string(key))] + values
        }
    }
}

extension FieldReader {
    /// Reads a required field that holds a text, or an object with the key of a localized string.
    mutating func required(text name: String, _ rule: Rule<String>) -> SurfaceText {
        if isRecording { record(name, isRequired: true, FieldReader.schema(ofText: rule)) }
        guard let value = member(name) else {
            if !isRecording { report(rule.missingCode, name, "is missing") }
            return .plain(rule.standIn)
        }
        return text(value, name, rule)
    }

    /// Reads an optional field that holds a text, or an object with the key of a localized string.
    mutating func optional(text name: String, _ rule: Rule<String>) -> SurfaceText? {
        if isRecording { record(name, isRequired: false, FieldReader.schema(ofText: rule)) }
        return member(name).map { text($0, name, rule) }
    }

    private mutating func text(_ value: JSONValue, _ name: String, _ rule: Rule<String>) -> SurfaceText {
        guard value["key"] != nil else { return .plain(read(value, name, rule) ?? rule.standIn) }
        return object(of: value, name, FieldReader.localizedText)
    }

    private static func localizedText(_ fields: inout FieldReader) -> SurfaceText {
        .localized(key: fields.required("key", .nonEmptyText), arguments: fields.optional("arguments", .texts) ?? [])
    }

    private static func schema(ofText rule: Rule<String>) -> JSONValue {
        var reader = FieldReader(recordingFor: .standard)
        _ = localizedText(&reader)
        return ["anyOf": [rule.schema(), reader.objectSchema]]
    }
}

extension Rule where Value == [String] {
    /// A list of texts.
    static let texts = Rule(standIn: [], schema: ["type": "array", "items": ["type": "string"]]) { value in
        guard let elements = value.elements else { return .problem(.invalidType, value.mismatch("an array")) }
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { return .problem(.invalidType, "must contain only strings") }
        return .value(texts)
    }
}
