internal import APNs
internal import APNsClient
internal import Outbox
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the provider tokens of one key for all relays that share an outbox: one of them signs, and all use it.
///
/// While the outbox cannot be asked, each relay signs for itself, which Apple allows.
struct FleetMint: ProviderTokenMint {
    /// How long a token is used before the outbox is asked again, so that all change it at about the same time.
    private static let validity: Int64 = 60
    /// The end of the year 9999, in seconds since 1970.
    private static let latestTime: Int64 = 253_402_300_799

    private let outbox: any SharedOutbox
    private let key: SigningKey
    private let clock: WallClock
    private let own: InMemoryMint
    private let log: Logger
    /// When the token was issued that Apple has called expired.
    private let refused = Refusal()

    init(_ key: SigningKey, sharing outbox: any SharedOutbox, clock: WallClock, log: Logger = .silent) {
        self.outbox = outbox
        self.key = key
        self.clock = clock
        self.log = log
        own = InMemoryMint(key)
    }

    func token() async throws(APNsError) -> MintedToken {
        let now = clock.secondsSince1970()
        let name = SharedToken.Key(teamID: key.teamID, keyID: key.keyID)
        do throws(OutboxError) {
            let shared = try await outbox.sharedToken(of: name)
            if let shared, mayUse(shared, at: now) { return minted(shared, at: now) }
            let fresh = SharedToken(text: try sign(at: now), issuedAt: now)
            let replacement = try await outbox.share(fresh, of: name, inPlaceOf: shared?.issuedAt)
            if let damage = damage(of: replacement) { throw damage }
            return minted(replacement, at: now)
        } catch {
            log.warning("provider token not shared", ["key": .string(key.keyID), "error": .string("\(error)")])
            return try own.token()
        }
    }

    func expired(tokenIssuedAt issuedAt: Date) async {
        refused.issuedAt.withLock { $0 = issuedAt.secondsSince1970 }
        own.expired(tokenIssuedAt: issuedAt)
    }

    private func sign(at now: Int64) throws(OutboxError) -> [UInt8] {
        do throws(APNsError) {
            return try key.token(issuedAt: Date(secondsSince1970: now))
        } catch {
            // The mint of this relay's own will say the same.
            throw OutboxError(.unavailable, "\(error)")
        }
    }

    /// Whether a token is neither old, nor of a time to come, nor one that Apple has refused and that may be replaced.
    private func mayUse(_ token: SharedToken, at now: Int64) -> Bool {
        if let damage = damage(of: token) {
            log.warning("shared provider token replaced", ["key": .string(key.keyID), "error": .string("\(damage)")])
            return false
        }
        let age = now - token.issuedAt
        guard (-60..<ProviderTokenSchedule.refreshAge).contains(age) else { return false }
        return refused.issuedAt.withLock { $0 } != token.issuedAt || age < ProviderTokenSchedule.minimumAge
    }

    /// Returns an error if the time of issue cannot be calculated with, as anything may have been written to the table.
    private func damage(of token: SharedToken) -> OutboxError? {
        guard token.issuedAt < 0 || token.issuedAt > FleetMint.latestTime else { return nil }
        return OutboxError(
            .damaged,
            "issued_at in martlet.provider_token must be from 0 to \(FleetMint.latestTime) seconds after 1970 "
                + "(found \(token.issuedAt)): delete the row"
        )
    }

    private func minted(_ token: SharedToken, at now: Int64) -> MintedToken {
        let left = token.issuedAt + ProviderTokenSchedule.refreshAge - now
        return MintedToken(
            text: token.text,
            issuedAt: Date(secondsSince1970: token.issuedAt),
            validity: .seconds(max(1, min(FleetMint.validity, left)))
        )
    }
}

/// What Apple has said of a token.
private final class Refusal: Sendable {
    let issuedAt = Mutex<Int64?>(nil)
}
