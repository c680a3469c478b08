extension RuleCase {
    /// Cases of rules about notifications of websites.
    static let websites: [RuleCase] = [
        RuleCase("url-args-missing", "payload/aps", website(#""alert":{"title":"x"}"#), near: website(websiteAlert)),
        RuleCase(
            "url-args-missing",
            "payload/aps",
            website(#""alert":{"title":"x"}"#, "alert"),
            near: LintedPush("alert", #"{"aps":{"alert":{"title":"x"}}}"#, topic: "com.example.web")
        ),
    ]

    private static let websiteAlert = #""alert":{"title":"x"},"url-args":[]"#

    private static func website(_ members: String, _ type: String? = nil) -> LintedPush {
        LintedPush(type, #"{"aps":{\#(members)}}"#, topic: "web.com.example")
    }
}
