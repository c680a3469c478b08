// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    /// Cases of rules about notifications of websites.
    static let websites: [RuleCase] = [
        RuleCase("url-args-missing", "payload/aps", website(texts), near: website(websiteAlert)),
        RuleCase(
            "url-args-missing",
            "payload/aps",
            website(texts, "alert"),
            near: LintedPush("alert", #"{"aps":{"alert":{"title":"x"}}}"#, topic: "com.example.web")
        ),
        RuleCase(
            "website-alert-incomplete",
            "payload/aps/alert",
            website(#""alert":{"title":"x"},"url-args":[]"#),
            near: website(websiteAlert)
        ),
        RuleCase(
            "website-alert-incomplete",
            "payload/aps/alert",
            website(#""alert":{"body":"x"},"url-args":[]"#),
            near: website(websiteAlert)
        ),
        RuleCase("website-alert-incomplete", "payload/aps", website(#""url-args":[]"#), near: website(websiteAlert)),
        RuleCase(
            "website-custom-key",
            "payload/order",
            LintedPush(nil, #"{"aps":{\#(websiteAlert)},"order":7}"#, topic: "web.com.example"),
            near: LintedPush("alert", #"{"aps":{"alert":"x"},"order":7}"#)
        ),
    ]

    private static let texts = #""alert":{"title":"x","body":"y"}"#
    private static let websiteAlert = texts + #","url-args":[]"#

    private static func website(_ members: String, _ type: String? = nil) -> LintedPush {
        LintedPush(type, #"{"aps":{\#(members)}}"#, topic: "web.com.example")
    }
}
