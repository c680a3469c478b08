// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    /// An alert with `mutable-content`, and a sidecar with these members.
    private static func enriched(_ sidecar: String, aps: String = #","mutable-content":1"#) -> LintedPush {
        LintedPush("alert", #"{"aps":{"alert":"Hi"\#(aps)},"liveSurface":{\#(sidecar)}}"#)
    }

    private static func attachment(_ members: String) -> LintedPush {
        enriched(#""attachments":[{"id":"a",\#(members)}]"#)
    }

    private static let jpeg = #""url":"https://example.com/a.jpg","type":"public.jpeg""#
    private static let place = "payload/liveSurface/attachments/0"

    /// Cases of rules about what a service extension adds to a notification.
    static let attachments: [RuleCase] = [
        RuleCase(
            "attachment-without-mutable-content",
            "payload/aps",
            enriched(#""attachments":[{"id":"a",\#(jpeg)}]"#, aps: ""),
            near: enriched(#""attachments":[{"id":"a",\#(jpeg)}]"#)
        ),
        RuleCase(
            "attachment-without-mutable-content",
            "payload/aps",
            enriched(#""personalized":{"title":"Hi {name}"}"#, aps: ""),
            near: enriched(#""attachments":[]"#, aps: "")
        ),
        RuleCase(
            "attachment-unusable",
            "\(place)/type",
            attachment(#""url":"https://example.com/a.webp","type":"org.webmproject.webp""#),
            near: attachment(jpeg)
        ),
        RuleCase(
            "attachment-unusable",
            "\(place)/byteCount",
            attachment(#"\#(jpeg),"byteCount":10000001"#),
            near: attachment(#"\#(jpeg),"byteCount":10000000"#)
        ),
        RuleCase(
            "attachment-unusable",
            "\(place)/url",
            attachment(#""url":"http://example.com/a.jpg","type":"public.jpeg""#),
            near: attachment(#""url":"appgroup:///a.jpg","type":"public.jpeg""#)
        ),
    ]
}
