// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Creates a provider token, or decodes one.
    static let token = Command(
        "token",
        "Create a provider token (JWT) for other tools, or decode a token and verify it with --key",
        examples: [
            "token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
            "token                          # signed with a generated key, for the simulator",
            "token eyJhbGciOiJFUzI1NiIs…    # decodes the token",
            "token eyJhbGciOiJFUzI1NiIs… --key AuthKey_ABC123DEFG.p8    # and verifies it",
        ],
        Argument<String?>("token", "Token to decode, with or without the prefix bearer"),
        KeyOptions.declared,
        OutputFormat.declared
    ) { given, key, output in
        let now = WallClock.system.secondsSince1970()
        guard let given else {
            let bytes = try key.signingKey(isRequired: false).token(issuedAt: Date(secondsSince1970: now))
            let token = String(decoding: bytes, as: UTF8.self)
            return output.write(json: ["token": .string(token)], text: token + "\n")
        }
        let report = try TokenReport(given, at: now, key)
        output.write(json: report.json, text: report.text)
        if !report.isUsable { throw CommandFailure() }
    }
}

/// The claims and the validity of a provider token.
struct TokenReport {
    private let claims: ProviderToken
    private let deviations: [ProviderTokenDeviation]
    private let age: Int64
    /// The reason for which the token does not match the key; nil if it matches, and without a key.
    private let mismatch: String?
    private let isVerified: Bool

    /// Parses a token, and compares it with the key that the options specify.
    ///
    /// - Throws: ``ProviderTokenError`` for text that is not a token, and an error for a key that cannot be used.
    init(_ text: String, at now: Int64, _ options: KeyOptions) throws {
        let bearer = "bearer "
        let token = text.lowercased().hasPrefix(bearer) ? text.dropFirst(bearer.count) : text[...]
        let parsed = try ParsedProviderToken(Array(token.utf8))
        claims = parsed.claims
        deviations = parsed.deviations
        age = claims.ageInSeconds(at: now)
        let key = try options.verificationKey(for: claims)
        isVerified = key != nil
        mismatch = try key.flatMap { try TokenReport.mismatch(of: parsed, $0) }
    }

    private static func mismatch(of token: ParsedProviderToken, _ key: SigningKey) throws -> String? {
        guard token.claims.keyID == key.keyID else { return "the key id is not \(key.keyID)" }
        guard token.claims.teamID == key.teamID else { return "the team id is not \(key.teamID)" }
        return try token.isSigned(by: key.publicKey()) ? nil : "the signature was not made with this key"
    }

    /// Whether APNs would accept the token now, as far as can be determined without the key, or with the given one.
    var isUsable: Bool { mismatch == nil && (0...ProviderToken.maximumAgeInSeconds).contains(age) }

    var text: String {
        """
        key id     \(claims.keyID)
        team id    \(claims.teamID)
        issued at  \(claims.issuedAtSeconds), \(ageInWords)
        signature  \(signatureForm)\(signatureState)
        \(deviations.map { "unusual    \($0); \($0.acceptance)\n" }.joined())verdict    \(verdict)

        """
    }

    private var signatureForm: String {
        if deviations.contains(.derSignature) { return "DER" }
        return deviations.contains(.es512Signature) ? "132 bytes" : "64 bytes"
    }

    private var signatureState: String {
        guard isVerified else { return "; verifying it requires --key" }
        return mismatch == nil ? ", verified with the key" : ""
    }

    private var ageInWords: String {
        age < 0 ? "\(length(age)) in the future" : "\(length(age)) ago"
    }

    /// Formats a duration, in seconds below two minutes, otherwise in minutes.
    private func length(_ seconds: Int64) -> String {
        seconds.magnitude < 120 ? "\(seconds.magnitude) s" : "\(seconds.magnitude / 60) min"
    }

    private var verdict: String {
        if let mismatch { return "\(mismatch): APNs answers 403 InvalidProviderToken" }
        if age < 0 { return "issued in the future: the clock of the issuing machine or of this machine is wrong" }
        if age > ProviderToken.maximumAgeInSeconds {
            return "older than an hour: APNs answers 403 ExpiredProviderToken"
        }
        return "valid for another \(length(ProviderToken.maximumAgeInSeconds - age))"
    }

    /// The report as JSON.
    var json: JSONValue {
        let members: [JSONValue.Member] = [
            .init("key-id", .string(claims.keyID)), .init("team-id", .string(claims.teamID)),
            .init("issued-at", .integer(claims.issuedAtSeconds)),
            .init("unusual", .array(deviations.map { .string("\($0)") })), .init("usable", .bool(isUsable)),
            .init("verdict", .string(verdict)),
        ]
        return .object(members + (isVerified ? [.init("verified", .bool(mismatch == nil))] : []))
    }
}
