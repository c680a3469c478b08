// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let passPayloadIgnored = PushLint.Rule("pass-payload-ignored", .warning, .passes)
        .when("a push to the topic of a Wallet pass has a payload with content")
}

/// The rules about updates of Wallet passes ("Adding a Web Service to Update Passes").
enum PassRules {
    static let all: [PushLint.Rule] = [.passPayloadIgnored]

    static func check(_ payload: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.hasPassTopic, let members = payload.members, !members.isEmpty else { return [] }
        let hasContent = members.count > 1 || payload["aps"]?.members?.isEmpty != true
        guard hasContent else { return [] }
        let message =
            "the payload of a push for a Wallet pass is {} or {\"aps\":{}}: the phone shows nothing of it, and asks the"
            + " web service of the pass for its new version"
        return [PushLint.Finding(.passPayloadIgnored, .payload(""), message)]
    }
}

extension PushFacts {
    /// Whether the topic is a pass type identifier, which begins with `pass.`.
    var hasPassTopic: Bool {
        (declaredType == nil || type == .alert || type == .background) && topic?.hasPrefix("pass.") == true
    }

    /// Whether the push updates a Wallet pass, for which Apple names no push type.
    var isForPass: Bool { type == nil && (hasPassTopic || payload?.members?.isEmpty == true) }
}
