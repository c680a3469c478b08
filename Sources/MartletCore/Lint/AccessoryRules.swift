// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let accessoryKeyMissing = PushLint.Rule("accessory-key-missing", .error, .accessory)
        .when("the aps of a push of type accessory lacks one of its four keys")
    static let accessoryValueWrong = PushLint.Rule("accessory-value-wrong", .error, .accessory)
        .when("encryptedData, sessionIdentifier, keyID or messageIndex has another form than Apple's page shows")
}

/// The rules about responses of accessories to forwarded notifications ("Responding to forwarded notifications").
enum AccessoryRules {
    static let all: [PushLint.Rule] = [.accessoryKeyMissing, .accessoryValueWrong]

    /// Returns a finding for each missing key; ``KeyRules`` checks the values, and reports keys beside `aps`.
    static func check(_ payload: JSONValue, _ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.type == .accessory else { return [] }
        return PayloadKey.accessory.filter { aps[$0.name] == nil && payload[$0.name] == nil }.map { key in
            let message = "\(key.name) is missing from aps: \(key.consequence)"
            return PushLint.Finding(.accessoryKeyMissing, .payload("/aps"), message)
        }
    }
}
