// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let activityStateTypeChanged = PushLint.Rule("activity-state-type-changed", .warning, .liveActivity)
        .when("a value in content-state has another type than in earlier content; only without a contract")
    static let activityStateMemberLost = PushLint.Rule("activity-state-member-lost", .warning, .liveActivity)
        .when("content-state lacks a member of earlier content; only without a contract")
    static let activityStateRepeated = PushLint.Rule("activity-state-repeated", .warning, .liveActivity)
        .when("an update has the content-state that is on screen, and nothing else")
}

/// The comparison of the content of a Live Activity with earlier content, without I/O.
///
/// The app's type decodes both. Without a contract the type is not known, and a difference in form suggests that one
/// of the two does not decode. Content in which a value has another type is not what later content is compared with. A
/// value that some content lacks is compared with the last one before.
enum ContentStateRules {
    static let all: [PushLint.Rule] = forms + [.activityStateRepeated]
    /// The rules about a form that differs, so that the app may not decode the content.
    static let forms: [PushLint.Rule] = [.activityStateTypeChanged, .activityStateMemberLost]

    private static let findingLimit = 10

    /// Returns the differences in form between the content of a push and earlier content of the activity.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - shown: The activity before the push; nil when the simulator does not know it.
    /// - Returns: The findings; none for a push that the device ignores, whatever its content.
    static func findings(for push: ActivityPush, after shown: SimulatedDevice.Activity?) -> [PushLint.Finding] {
        guard let shown, push.event != .start, let timestamp = push.timestamp,
            !shown.ignores(push.event, at: timestamp), let state = push.contentState, state.members != nil,
            let before = shown.baseline
        else { return [] }
        var findings: [PushLint.Finding] = []
        compare(before.content, state, of: before.number, at: [], &findings)
        for old in before.earlier {
            guard let value = ContentBaseline.value(at: old.path, in: state) else { continue }
            compare(old.value, value, of: old.number, at: old.path, &findings)
        }
        return findings
    }

    /// Returns the finding about an update that changes nothing.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - shown: The activity before the push; nil when the simulator does not know it.
    /// - Returns: The finding; nil for a push that the device ignores.
    static func repetition(of push: ActivityPush, after shown: SimulatedDevice.Activity?) -> PushLint.Finding? {
        guard let shown, push.event == .update, push.hasContentAlone, let timestamp = push.timestamp,
            !shown.ignores(push.event, at: timestamp), let content = push.contentState, content == shown.content
        else { return nil }
        let message =
            "content-state is that of push \(shown.source.number), which is on screen: the update changes nothing, and"
            + " may use up the budget of the app"
        return PushLint.Finding(.activityStateRepeated, .payload("/aps/content-state"), message)
    }

    private static func compare(
        _ before: JSONValue,
        _ after: JSONValue,
        of number: Int,
        at path: [String],
        _ findings: inout [PushLint.Finding]
    ) {
        // A value that is null decodes as an optional, as does one that is missing.
        guard findings.count < findingLimit, before != .null, after != .null else { return }
        guard kind(of: before) == kind(of: after) else {
            let message =
                "\(path.joined(separator: ".")) was \(kind(of: before)) in push \(number), and is \(kind(of: after)):"
                + " the phone drops a push that the app's type does not decode"
            findings.append(PushLint.Finding(.activityStateTypeChanged, place(of: path), message))
            return
        }
        guard let old = before.members, let new = after.members else { return }
        // Swift encodes an enumeration with associated values as an object with the name of the case.
        let isEnumeration = !path.isEmpty && old.count == 1 && new.count == 1
        for (member, other) in old.paired(with: new, by: \.name) {
            if let other {
                compare(member.value, other.value, of: number, at: path + [member.name], &findings)
            } else if !isEnumeration, member.value != .null, findings.count < findingLimit {
                let name = (path + [member.name]).joined(separator: ".")
                let message =
                    "\(name) was in push \(number), and is missing: the phone drops the push, unless it is optional in"
                    + " the app's type"
                findings.append(PushLint.Finding(.activityStateMemberLost, place(of: path), message))
            }
        }
    }

    private static func place(of path: [String]) -> PushLint.Place {
        .payload(JSONPointer.path(["aps", "content-state"] + path))
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "a Boolean value"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
