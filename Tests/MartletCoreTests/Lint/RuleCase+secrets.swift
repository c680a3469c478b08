// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    private static let note = "payload/note"

    /// Cases of rules about what should not travel in the clear; none of what they hold is or was a secret.
    static let secrets: [RuleCase] = [
        RuleCase(
            "secret-private-key",
            note,
            .custom("-----BEGIN EC PRIVATE KEY-----\nMHc"),
            near: .custom("-----BEGIN CERTIFICATE-----\nMHc")
        ),
        RuleCase(
            "secret-web-token",
            note,
            .custom("shop://in?token=eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBQkNERSJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ"),
            near: .custom("shop://in?file=eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBQkNERSJ9")
        ),
        RuleCase(
            "secret-bearer-token",
            note,
            .custom("Authorization: Bearer a1b2c3d4e5f6a7b8c9d0"),
            near: .custom("The bearer of extraordinarily good news, room 1234567890123")
        ),
        RuleCase(
            "secret-access-key",
            note,
            .custom("key=AKIA1234567890ABCDEF;"),
            near: .custom("The AKIA band, and AKIA1234567890ABCDEFGH")
        ),
        RuleCase(
            "secret-access-key",
            note,
            .custom("sk_live_" + String(repeating: "4f", count: 12)),
            near: .custom("sk_live_album_of_the_year")
        ),
        RuleCase(
            "secret-card-number",
            note,
            .custom("Paid with 4111 1111 1111 1111 today"),
            near: .custom("Paid with 4111 1111 1111 1112 today")
        ),
        RuleCase(
            "secret-card-number",
            "payload/aps/alert",
            .aps(#""alert":"Card 5500-0055-5555-5559.""#),
            near: .aps(#""alert":"Order 8500005555555559, at 1790000000000, for +44 7911 123456""#)
        ),
        RuleCase(
            "secret-card-number",
            note,
            .custom("378282246310005"),
            near: .custom("x378282246310005, 378282246310005b")
        ),
        RuleCase(
            "secret-email-address",
            note,
            .custom("jane.doe+shop@example.com"),
            near: .aps(#""alert":"jane.doe@example.com""#)
        ),
        RuleCase(
            "secret-email-address",
            note,
            .custom("a@b.io"),
            near: .custom("order-17@3 and jane@home")
        ),
    ]
}
