// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let secretPrivateKey = PushLint.Rule("secret-private-key", .warning, .payload)
        .when("a string contains a private key")
    static let secretWebToken = PushLint.Rule("secret-web-token", .warning, .payload)
        .when("a string contains what looks like a JSON Web Token")
    static let secretBearerToken = PushLint.Rule("secret-bearer-token", .warning, .payload)
        .when("a string contains what looks like the value of an authorization header")
    static let secretAccessKey = PushLint.Rule("secret-access-key", .warning, .payload)
        .when("a string contains what looks like the access key of a well-known service")
    static let secretCardNumber = PushLint.Rule("secret-card-number", .warning, .payload)
        .when("a string contains what looks like the number of a payment card")
    static let secretEmailAddress = PushLint.Rule("secret-email-address", .warning, .payload)
        .when("a value beside the alert is an e-mail address")
}

/// The rules about data that should not be sent unencrypted.
///
/// Apple recommends encrypting sensitive data ("Generating a remote notification"). Each rule has at most one finding,
/// and no finding contains the secret.
enum SecretRules {
    static let all: [PushLint.Rule] = [
        .secretPrivateKey, .secretWebToken, .secretBearerToken, .secretAccessKey, .secretCardNumber,
        .secretEmailAddress,
    ]

    static func check(_ payload: JSONValue) -> [PushLint.Finding] {
        var findings: [PushLint.Finding] = []
        inspect(payload, at: [], &findings)
        return findings
    }

    private static func inspect(_ value: JSONValue, at path: [String], _ findings: inout [PushLint.Finding]) {
        switch value {
        case .object(let members):
            for member in members { inspect(member.value, at: path + [member.name], &findings) }
        case .array(let elements):
            for (index, element) in elements.enumerated() { inspect(element, at: path + [String(index)], &findings) }
        case .string(let text):
            guard let (rule, what) = secret(in: text, isShown: path.starts(with: ["aps", "alert"])) else { return }
            let pointer = JSONPointer.shownPath(path)
            guard !findings.contains(where: { $0.rule == rule.id }) else { return }
            let message =
                "this looks like \(what), and payloads are not encrypted end to end: send it another way, or"
                + " encrypted for the service extension"
            findings.append(PushLint.Finding(rule, .payload(pointer), message))
        case .null, .bool, .number: break
        }
    }

    /// Returns the first secret in a text; e-mail addresses are not secrets in a text that is shown.
    private static func secret(in text: String, isShown: Bool) -> (rule: PushLint.Rule, what: String)? {
        let bytes = Array(text.utf8)
        if SecretPatterns.hasPrivateKey(bytes, text) { return (.secretPrivateKey, "a private key") }
        if SecretPatterns.hasWebToken(bytes) { return (.secretWebToken, "a JSON Web Token") }
        if SecretPatterns.hasBearerToken(bytes) { return (.secretBearerToken, "a bearer token") }
        if SecretPatterns.hasAccessKey(bytes) { return (.secretAccessKey, "an access key") }
        if SecretPatterns.hasCardNumber(bytes) { return (.secretCardNumber, "the number of a payment card") }
        if !isShown, SecretPatterns.isEmailAddress(bytes) { return (.secretEmailAddress, "an e-mail address") }
        return nil
    }
}
