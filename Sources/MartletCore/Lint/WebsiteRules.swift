// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let urlArgumentsMissing = PushLint.Rule("url-args-missing", .error, .websites)
        .when("a notification of a website lacks url-args")
    static let websiteAlertIncomplete = PushLint.Rule("website-alert-incomplete", .error, .websites)
        .when("the alert of a notification of a website lacks title or body")
    static let websiteCustomKey = PushLint.Rule("website-custom-key", .warning, .websites)
        .when("a notification of a website has a key beside aps")
}

/// The rules about notifications of websites, which Safari 15 and older receive ("Configuring Safari Push
/// Notifications").
enum WebsiteRules {
    static let all: [PushLint.Rule] = [.urlArgumentsMissing, .websiteAlertIncomplete, .websiteCustomKey]

    static func check(_ payload: JSONValue, _ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.isForWebsite else { return [] }
        return missingArguments(aps) + missingTexts(aps) + customKey(payload)
    }

    private static func missingArguments(_ aps: JSONValue) -> [PushLint.Finding] {
        guard aps["url-args"] == nil else { return [] }
        let message =
            "a notification of a website needs url-args, an array with a string for each placeholder of its"
            + " urlFormatString, empty for none: without it Safari shows nothing"
        return [PushLint.Finding(.urlArgumentsMissing, .payload("/aps"), message)]
    }

    private static func missingTexts(_ aps: JSONValue) -> [PushLint.Finding] {
        ["title", "body"].filter { aps["alert"]?[$0] == nil }.map { name in
            let message = "a notification of a website needs an alert with \(name): without it Safari shows nothing"
            return PushLint.Finding(
                .websiteAlertIncomplete,
                .payload(aps["alert"] == nil ? "/aps" : "/aps/alert"),
                message
            )
        }
    }

    private static func customKey(_ payload: JSONValue) -> [PushLint.Finding] {
        guard let name = payload.members?.map(\.name).first(where: { $0 != "aps" }) else { return [] }
        let message = "a notification of a website has aps alone: Safari does not pass \(ShownValue(name)) on"
        return [PushLint.Finding(.websiteCustomKey, .payload(JSONPointer.shownPath([name])), message)]
    }
}

extension PushFacts {
    /// Whether the topic is a Website Push ID, which begins with `web.`.
    var isForWebsite: Bool {
        (declaredType == nil || type == .alert) && topic?.hasPrefix("web.") == true
    }
}
