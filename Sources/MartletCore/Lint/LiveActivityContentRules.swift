// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let activityAttributesEqualState = PushLint.Rule("activity-attributes-equal-state", .warning, .liveActivity)
        .when("attributes and content-state are the same")
    static let activityAttributesKeyedAsState = PushLint.Rule(
        "activity-attributes-keyed-as-state",
        .warning,
        .liveActivity
    )
    .when("attributes and content-state have the same keys")
    static let activityNull = PushLint.Rule("activity-null", .warning, .liveActivity)
        .when("a value in attributes or content-state is null")
    static let activityDateText = PushLint.Rule("activity-date-text", .warning, .liveActivity)
        .when("a value in attributes or content-state is a date as text (ISO 8601)")
    static let activityDateEpoch = PushLint.Rule("activity-date-epoch", .warning, .liveActivity)
        .when("a time in attributes or content-state, by its name, is in seconds or milliseconds since 1970")
}

/// The rules about the content of a Live Activity: the phone decodes it with Swift's default `JSONDecoder`, and
/// silently drops a push that does not decode.
enum LiveActivityContentRules {
    static let all: [PushLint.Rule] = [
        .activityAttributesEqualState, .activityAttributesKeyedAsState, .activityNull, .activityDateText,
        .activityDateEpoch,
    ]

    private static let findingLimit = 10

    static func check(_ aps: JSONValue) -> [PushLint.Finding] {
        var findings = sameness(aps).map { [$0] } ?? []
        for key in ["content-state", "attributes"] {
            if let value = aps[key], value.members != nil { inspect(value, at: ["aps", key], &findings) }
        }
        return findings
    }

    private static func sameness(_ aps: JSONValue) -> PushLint.Finding? {
        guard let attributes = aps["attributes"]?.members, let state = aps["content-state"]?.members,
            !attributes.isEmpty, Set(attributes.map(\.name)) == Set(state.map(\.name))
        else { return nil }
        let consequence =
            ": attributes are the static data of the app's type, beside its ContentState; the phone starts no activity"
            + " when they do not decode"
        let (rule, sameness): (PushLint.Rule, String) =
            Set(attributes) == Set(state)
            ? (.activityAttributesEqualState, "attributes are the same as content-state")
            : (.activityAttributesKeyedAsState, "attributes have the keys of content-state")
        return PushLint.Finding(rule, .payload("/aps/attributes"), sameness + consequence)
    }

    private static func inspect(_ value: JSONValue, at path: [String], _ findings: inout [PushLint.Finding]) {
        guard findings.count < findingLimit else { return }
        switch value {
        case .object(let members):
            for member in members { inspect(member.value, at: path + [member.name], &findings) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { inspect(element, at: path + [String(index)], &findings) }
        case .null:
            let message =
                "null decodes only as an optional, as does a missing key: with any other type the phone drops the push"
            findings.append(PushLint.Finding(.activityNull, .payload(JSONPointer.path(path)), message))
        case .string(let text) where isDateAndTime(text):
            let message =
                "a date as text decodes only as a String: where the app's type has a Date, which is a number of"
                + " seconds since 2001, the phone drops the push"
            findings.append(PushLint.Finding(.activityDateText, .payload(JSONPointer.path(path)), message))
        case .number(let number):
            guard let name = path.last, let message = ActivityTime.problem(with: number.doubleValue, named: name) else {
                return
            }
            findings.append(PushLint.Finding(.activityDateEpoch, .payload(JSONPointer.path(path)), message))
        case .bool, .string: break
        }
    }

    /// Whether a text is an ISO 8601 date and time and nothing else, as in `2026-05-12T18:31:00Z`.
    private static func isDateAndTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // The longest accepted text has seconds, a fraction and an offset.
        guard (16...40).contains(bytes.count) else { return false }
        let pattern = Array("0000-00-00T00:00".utf8)
        let beginsAsOne = zip(bytes, pattern).allSatisfy { byte, sample in
            switch sample {
            case UInt8(ascii: "0"): byte.isDigit
            case UInt8(ascii: "T"): byte == sample || byte == UInt8(ascii: "t") || byte == UInt8(ascii: " ")
            default: byte == sample
            }
        }
        return beginsAsOne && bytes[pattern.count...].allSatisfy { $0.isDigit || "+-.: Zz".utf8.contains($0) }
    }
}
