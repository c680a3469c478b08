// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The refusal of a request: the reason in the answer, and a finding that explains it in the inbox.
struct Refusal: Error {
    var reason: APNsReason
    private let rule: PushLint.Rule
    private let place: PushLint.Place
    private let text: String
    /// The server that refuses the push: APNs, unless the limit is the simulator's own.
    private let refuser: String

    var finding: PushLint.Finding { PushLint.Finding(rule, place, text, reason: reason, refuser: refuser) }

    init(
        _ reason: APNsReason,
        _ rule: PushLint.Rule,
        _ place: PushLint.Place,
        _ text: String,
        refuser: String = "APNs"
    ) {
        self.reason = reason
        self.rule = rule
        self.place = place
        self.text = text
        self.refuser = refuser
    }

    /// Returns a refusal for the provider token or the certificate of a request.
    static func credentials(_ reason: APNsReason, _ rule: PushLint.Rule, _ text: String) -> Refusal {
        Refusal(reason, rule, .header("authorization"), text)
    }

    /// Returns a refusal for the device token in the path.
    static func deviceToken(_ reason: APNsReason, _ rule: PushLint.Rule, _ text: String) -> Refusal {
        Refusal(reason, rule, .header(":path"), text)
    }
}
