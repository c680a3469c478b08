// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    /// Cases of the rules about pushes to managed devices and for Wallet passes.
    static let managed: [RuleCase] = [
        RuleCase("mdm-payload-wrong", "payload/mdm", LintedPush("mdm", "{}"), near: command),
        RuleCase("mdm-payload-wrong", "payload/mdm", LintedPush("mdm", #"{"mdm":7}"#), near: command),
        RuleCase("mdm-payload-wrong", "payload/mdm", LintedPush("mdm", #"{"mdm":""}"#), near: command),
        RuleCase("mdm-payload-wrong", "payload/aps", LintedPush("mdm", #"{"mdm":"M-1","aps":{}}"#), near: command),
        RuleCase(
            "push-type-mismatch",
            "apns-push-type",
            LintedPush("alert", #"{"mdm":"M-1"}"#, topic: mdmTopic),
            near: command
        ),
        RuleCase(
            "push-type-missing",
            "apns-push-type",
            LintedPush(nil, #"{"mdm":"M-1"}"#, topic: mdmTopic),
            near: command
        ),
        RuleCase(
            "pass-payload-ignored",
            "payload",
            LintedPush(nil, #"{"n":1}"#, topic: "pass.com.example.card"),
            near: LintedPush(nil, "{}", topic: "pass.com.example.card")
        ),
        RuleCase(
            "pass-payload-ignored",
            "payload",
            LintedPush(nil, #"{"aps":{"alert":"Hi"}}"#, topic: "pass.com.example.card"),
            near: LintedPush(nil, #"{"aps":{}}"#, topic: "pass.com.example.card")
        ),
        RuleCase(
            "pass-payload-ignored",
            "payload",
            LintedPush("alert", topic: "pass.com.example.card"),
            near: LintedPush("alert", topic: "com.example.pass")
        ),
        RuleCase(
            "pass-payload-ignored",
            "payload",
            LintedPush("alert", #"{"aps":{},"n":1}"#, topic: "pass.com.example.card"),
            near: LintedPush("alert", #"{"aps":{}}"#, topic: "pass.com.example.card")
        ),
        RuleCase(
            "pass-payload-ignored",
            "payload",
            LintedPush("background", #"{"aps":{"content-available":1}}"#, topic: "pass.com.example.card"),
            near: LintedPush("background", "{}", topic: "pass.com.example.card")
        ),
    ]

    private static let mdmTopic = "com.apple.mgmt.External.1b2c"

    private static let command = LintedPush("mdm", #"{"mdm":"M-1"}"#)
}
