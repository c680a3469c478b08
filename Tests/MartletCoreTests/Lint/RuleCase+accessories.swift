// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    /// Cases of rules about responses of accessories.
    static let accessories: [RuleCase] =
        ["encryptedData", "sessionIdentifier", "keyID", "messageIndex"].map { key in
            RuleCase("accessory-key-missing", "payload/aps", response(without: key), near: response())
        } + [
            wrong("encryptedData", "7"), wrong("encryptedData", #""not base64!""#), wrong("encryptedData", #""YWJ""#),
            wrong("encryptedData", #""""#), wrong("sessionIdentifier", "1"), wrong("keyID", #""a2V5_""#),
            wrong("keyID", "null"), wrong("messageIndex", "42"), wrong("messageIndex", #""""#),
            wrong("messageIndex", #""-1""#), wrong("messageIndex", #""1.5""#),
            RuleCase(
                "aps-key-outside",
                "payload/encryptedData",
                LintedPush("accessory", "{\(members())}"),
                near: response()
            ),
            RuleCase(
                "aps-key-unknown",
                "payload/aps/alert",
                LintedPush("accessory", #"{"aps":{"alert":"Hi",\#(members())}}"#),
                near: response()
            ),
            RuleCase(
                "aps-missing",
                "payload",
                LintedPush("accessory", "{}"),
                near: response(),
                others: ["accessory-key-missing"]
            ),
        ]

    private static let parts = [
        ("encryptedData", #""NDExMTExMTExMTExMTExMTQxMTExMTExMTExMTExMTE=""#), ("sessionIdentifier", #""session-1""#),
        ("keyID", #""a2V5""#), ("messageIndex", #""4111111111111111""#),
    ]

    private static func members(without missing: String = "", _ changes: [String: String] = [:]) -> String {
        parts.filter { $0.0 != missing }.map { "\"\($0)\":\(changes[$0] ?? $1)" }.joined(separator: ",")
    }

    private static func response(without missing: String = "", _ changes: [String: String] = [:]) -> LintedPush {
        LintedPush("accessory", #"{"aps":{\#(members(without: missing, changes))}}"#)
    }

    private static func wrong(_ key: String, _ value: String) -> RuleCase {
        RuleCase("accessory-value-wrong", "payload/aps/\(key)", response([key: value]), near: response())
    }

    private static func response(_ changes: [String: String]) -> LintedPush { response(without: "", changes) }
}
