import APNsClient
import Commands

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
            let token = try key.signingKey(isForApple: false).token(issuedAt: now)
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
    private let signatureLength: Int
    private let age: Int64

    /// Bytes of a signature, r and s (RFC 7518 §3.4).
    private static let expectedSignatureLength = 64

    init(_ text: String, at now: Int64) throws(ProviderTokenError) {
        let bearer = "bearer "
        let token = text.lowercased().hasPrefix(bearer) ? text.dropFirst(bearer.count) : text[...]
        let parsed = try ParsedProviderToken(Array(token.utf8))
        claims = parsed.claims
        signatureLength = parsed.signature.count
        age = claims.age(at: now)
    }

    /// Whether APNs would take the token now, as far as can be told without the key.
    var isUsable: Bool {
        signatureLength == TokenExplanation.expectedSignatureLength && (0...ProviderToken.maximumAge).contains(age)
    }

    var text: String {
        """
        key id     \(claims.keyID)
        team id    \(claims.teamID)
        issued at  \(claims.issuedAt), \(ageInWords)
        signature  \(signatureLength) bytes, where ES256 makes 64; whether it fits only the key can tell
        verdict    \(verdict)

        """
    }

    private var ageInWords: String {
        let (minutes, seconds) = age.magnitude.quotientAndRemainder(dividingBy: 60)
        let length = minutes > 0 ? "\(minutes) min" : "\(seconds) s"
        return age < 0 ? "\(length) in the future" : "\(length) ago"
    }

    private var verdict: String {
        if signatureLength != TokenExplanation.expectedSignatureLength {
            return "APNs answers 403 InvalidProviderToken"
        }
        if age < 0 { return "from the future: the clock of the machine that made it, or of this one, is wrong" }
        if age > ProviderToken.maximumAge { return "older than an hour: APNs answers 403 ExpiredProviderToken" }
        return "good for another \((ProviderToken.maximumAge - age) / 60) min"
    }
}
