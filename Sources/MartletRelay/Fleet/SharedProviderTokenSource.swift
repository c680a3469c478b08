// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The source of provider tokens of one key for all relays that share an outbox: one of them signs, and all use it.
///
/// While the outbox is unavailable, each relay uses the last token, and signs another only when that one is too old:
/// Apple refuses a token that replaces another within 20 minutes on a connection with `TooManyProviderTokenUpdates`.
/// All times are those of the outbox's clock, because a relay whose clock is wrong would replace the token of the
/// others with one that Apple refuses.
struct SharedProviderTokenSource: ProviderTokenSource {
    /// The time for which a token is used before the outbox is asked again, in seconds, so that all relays change it at
    /// about the same time.
    private static let validity: Int64 = 60
    /// The end of the year 9999, in seconds since 1970.
    private static let latestTime: Int64 = 253_402_300_799

    private let fleet: any OutboxFleet
    private let key: SigningKey
    private let clock: WallClock
    private let log: Logger
    private let state = State()

    init(_ key: SigningKey, sharing fleet: any OutboxFleet, clock: WallClock, log: Logger = .silent) {
        self.fleet = fleet
        self.key = key
        self.clock = clock
        self.log = log
    }

    func token() async throws(APNsError) -> SignedProviderToken {
        let name = SharedToken.Key(teamID: key.teamID, keyID: key.keyID, fingerprint: try key.fingerprint)
        do throws(OutboxError) {
            let now = try await fleet.time()
            recordTime(now)
            let shared = try await fleet.sharedToken(of: name)
            let token: SharedToken
            if let shared, mayUse(shared, at: now) {
                token = shared
            } else {
                // Shares a token that was signed while the outbox was unavailable.
                let offered: SharedToken
                do throws(APNsError) {
                    offered = try heldOrSigned(at: now)
                } catch {
                    // Signing again below throws the same error.
                    throw OutboxError(.unavailable, "\(error)")
                }
                token = try await fleet.share(offered, of: name, inPlaceOf: shared?.issuedAt)
                if let damage = damage(of: token) { throw damage }
            }
            state.held.withLock { $0.began(using: token, at: now) }
            return signed(token, at: now)
        } catch {
            log.warning(.providerTokenNotShared, ["key": .string(key.keyID), "error": .string("\(error)")])
            let now = now
            return signed(try heldOrSigned(at: now), at: now)
        }
    }

    func expired(tokenIssuedAt issuedAt: Date) async {
        let now = now
        state.held.withLock { $0.machine.rejected(tokenIssuedAt: issuedAt.secondsSince1970, at: now) }
    }

    /// The time of the outbox's clock in seconds since 1970, calculated from this relay's clock; the latter before the
    /// outbox has answered.
    private var now: Int64 { clock.secondsSince1970() + state.held.withLock { $0.lead } }

    /// Records the time of the outbox's clock.
    private func recordTime(_ time: Int64) {
        let lead = time - clock.secondsSince1970()
        state.held.withLock { $0.lead = lead }
    }

    /// Returns the token that was used last, or signs another if that one may not be used any more.
    private func heldOrSigned(at now: Int64) throws(APNsError) -> SharedToken {
        let result: Result<SharedToken, APNsError> = state.held.withLock { held in
            if let token = held.token, held.machine.action(at: now) == .use { return .success(token) }
            do throws(APNsError) {
                let text = try key.token(issuedAt: Date(secondsSince1970: now))
                let token = SharedToken(text: text, issuedAt: now)
                held.began(using: token, at: now)
                return .success(token)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func mayUse(_ token: SharedToken, at now: Int64) -> Bool {
        if let damage = damage(of: token) {
            log.warning(.sharedProviderTokenReplaced, ["key": .string(key.keyID), "error": .string("\(damage)")])
            return false
        }
        return state.held.withLock { $0.machine.action(forTokenIssuedAt: token.issuedAt, at: now) } == .use
    }

    /// Returns an error if the time of issue is out of range, as other programs may have written to the table.
    private func damage(of token: SharedToken) -> OutboxError? {
        guard token.issuedAt < 0 || token.issuedAt > SharedProviderTokenSource.latestTime else { return nil }
        return OutboxError(
            .damaged,
            "issued_at in martlet.provider_token must be from 0 to \(Self.latestTime) seconds after 1970 "
                + "(found \(token.issuedAt)): delete the row"
        )
    }

    private func signed(_ token: SharedToken, at now: Int64) -> SignedProviderToken {
        let left = state.held.withLock { $0.machine.secondsUntilRenewal(at: now) }
        return SignedProviderToken(
            text: token.text,
            issuedAt: Date(secondsSince1970: token.issuedAt),
            validity: .seconds(max(1, min(SharedProviderTokenSource.validity, left)))
        )
    }
}

/// The last token of a relay, and the decisions about it.
private struct HeldToken {
    /// The token that was used last; its time of issue has been checked.
    private(set) var token: SharedToken?
    /// The seconds by which the outbox's clock was ahead of this relay's when it was read last.
    var lead: Int64 = 0
    var machine = ProviderTokenMachine(.shared)

    mutating func began(using token: SharedToken, at now: Int64) {
        self.token = token
        machine.began(using: token.issuedAt, at: now)
    }
}

/// A lock around the token of a relay, shared by all copies of a ``SharedProviderTokenSource``.
private final class State: Sendable {
    let held = Mutex(HeldToken())
}
