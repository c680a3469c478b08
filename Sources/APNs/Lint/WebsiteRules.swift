extension Lint.Rule {
    static let urlArgumentsMissing = Lint.Rule(
        "url-args-missing",
        .error,
        .websites,
        "a notification of a website lacks url-args"
    )
}

/// The rules about notifications of websites, which Safari 15 and older receive ("Configuring Safari Push
/// Notifications").
enum WebsiteRules {
    static let all: [Lint.Rule] = [.urlArgumentsMissing]

    static func check(_ aps: JSONValue, of push: PushFacts) -> [Lint.Finding] {
        guard push.isForWebsite, aps["url-args"] == nil else { return [] }
        return [
            Lint.Finding(
                .urlArgumentsMissing,
                .payload("/aps"),
                "a notification of a website needs url-args, an array with a string for each placeholder of its"
                    + " urlFormatString, empty for none: without it Safari shows nothing"
            )
        ]
    }
}

extension PushFacts {
    /// Whether the topic is the Website Push ID of a website, which begins with `web.`.
    var isForWebsite: Bool {
        (declaredType == nil || type == .alert) && topic?.hasPrefix("web.") == true
    }
}
