import APNsClient
import Commands

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Makes a provider token, or explains one.
    static let token = Command(
        "token",
        "Print a provider token (JWT) for use with other tools, or explain one",
        examples: [
            "token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
            "token                                   # signed with a fresh key, for the simulator",
            "token eyJhbGciOiJFUzI1NiIs…             # explains the token",
        ],
        Argument<String?>("token", "A token to explain instead; bearer in front does no harm"),
        KeyOptions.declared
    ) { given, key in
        let now = WallClock.system.secondsSince1970()
        guard let given else {
            let token = try key.signingKey(isForApple: false).token(issuedAt: Date(secondsSince1970: now))
            Terminal.output.write(String(decoding: token, as: UTF8.self) + "\n")
            return
        }
        let explanation = try TokenExplanation(given, at: now)
        Terminal.output.write(explanation.text)
        if !explanation.isUsable { throw CommandFailure() }
    }
}

/// What a provider token says, in words.
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

    /// Whether APNs would take the token now, as far as can be told without the key.
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
        let (minutes, seconds) = age.magnitude.quotientAndRemainder(dividingBy: 60)
        let length = minutes > 0 ? "\(minutes) min" : "\(seconds) s"
        return age < 0 ? "\(length) in the future" : "\(length) ago"
    }

    private var verdict: String {
        if age < 0 { return "from the future: the clock of the machine that made it, or of this one, is wrong" }
        if age > ProviderToken.maximumAgeInSeconds {
            return "older than an hour: APNs answers 403 ExpiredProviderToken"
        }
        return "good for another \((ProviderToken.maximumAgeInSeconds - age) / 60) min"
    }
}
