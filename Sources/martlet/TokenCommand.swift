import APNsClient
import Commands

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Prints a provider token, or explains one.
    static let token = Command(
        "token",
        "Print a provider token (JWT) for other tools, or explain one",
        examples: [
            "token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
            "token                          # signed with a fresh key, for the simulator",
            "token eyJhbGciOiJFUzI1NiIs…    # explains the token",
        ],
        Argument<String?>("token", "Token to explain, with or without bearer in front"),
        KeyOptions.declared,
        OutputFormat.declared
    ) { given, key, output in
        let now = WallClock.system.secondsSince1970()
        guard let given else {
            let bytes = try key.signingKey(isRequired: false).token(issuedAt: Date(secondsSince1970: now))
            let token = String(decoding: bytes, as: UTF8.self)
            return output.write(json: ["token": .string(token)], text: token + "\n")
        }
        let explanation = try TokenExplanation(given, at: now)
        output.write(json: explanation.json, text: explanation.text)
        if !explanation.isUsable { throw CommandFailure() }
    }
}

/// The explanation of a provider token.
struct TokenExplanation {
    private let claims: ProviderToken
    private let deviations: [ProviderTokenDeviation]
    private let age: Int64

    init(_ text: String, at now: Int64) throws(ProviderTokenError) {
        let bearer = "bearer "
        let token = text.lowercased().hasPrefix(bearer) ? text.dropFirst(bearer.count) : text[...]
        let parsed = try ParsedProviderToken(Array(token.utf8))
        claims = parsed.claims
        deviations = parsed.deviations
        age = claims.ageInSeconds(at: now)
    }

    /// Whether APNs would accept the token now, as far as that shows without the key.
    var isUsable: Bool { (0...ProviderToken.maximumAgeInSeconds).contains(age) }

    var text: String {
        """
        key id     \(claims.keyID)
        team id    \(claims.teamID)
        issued at  \(claims.issuedAtSeconds), \(ageInWords)
        signature  \(deviations.contains(.derSignature) ? "DER" : "64 bytes"); verifying it needs the key
        \(deviations.map { "unusual    \($0); APNs accepts it\n" }.joined())verdict    \(verdict)

        """
    }

    private var ageInWords: String {
        age < 0 ? "\(length(age)) in the future" : "\(length(age)) ago"
    }

    /// A time for people, in whole seconds below two minutes, otherwise in whole minutes.
    private func length(_ seconds: Int64) -> String {
        seconds.magnitude < 120 ? "\(seconds.magnitude) s" : "\(seconds.magnitude / 60) min"
    }

    private var verdict: String {
        if age < 0 { return "from the future: the clock of the machine that made it, or of this one, is wrong" }
        if age > ProviderToken.maximumAgeInSeconds {
            return "older than an hour: APNs answers 403 ExpiredProviderToken"
        }
        return "good for another \(length(ProviderToken.maximumAgeInSeconds - age))"
    }
}

extension TokenExplanation {
    /// The explanation for programs.
    var json: JSONValue {
        [
            "key-id": .string(claims.keyID), "team-id": .string(claims.teamID),
            "issued-at": .number(JSONNumber(claims.issuedAtSeconds)),
            "unusual": .array(deviations.map { .string("\($0)") }), "usable": .bool(isUsable),
            "verdict": .string(verdict),
        ]
    }
}
