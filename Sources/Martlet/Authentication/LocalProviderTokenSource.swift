// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A source of provider tokens for one key, shared within a process.
///
/// A token is replaced after 50 minutes, or when APNs rejects it as expired, but for the latter reason at most every 20
/// minutes. A lock is held during the signing, so that two tokens are never created at the same time.
public final class LocalProviderTokenSource: ProviderTokenSource {
    private struct State {
        var key: SigningKey
        var machine = ProviderTokenMachine(.local)
        var text: [UInt8] = []
        var issuedAt: Int64 = 0
    }

    private let clock: WallClock
    private let state: Mutex<State>

    /// Creates a source that signs with this key.
    ///
    /// - Parameter key: The key.
    public convenience init(_ key: SigningKey) {
        self.init(key, clock: .system)
    }

    init(_ key: SigningKey, clock: WallClock) {
        self.clock = clock
        state = Mutex(State(key: key))
    }

    /// Returns the current token.
    ///
    /// - Returns: The token.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key cannot sign.
    public func token() throws(APNsError) -> SignedProviderToken {
        let now = clock.secondsSince1970()
        let result: Result<SignedProviderToken, APNsError> = state.withLock { state in
            if case .issue(let issuedAt) = state.machine.action(at: now) {
                do throws(APNsError) {
                    state.text = try state.key.token(issuedAt: Date(secondsSince1970: issuedAt))
                } catch {
                    return .failure(error)
                }
                state.issuedAt = issuedAt
                state.machine.began(using: issuedAt, at: now)
            }
            let validity = Duration.seconds(state.machine.secondsUntilRenewal(at: now))
            return .success(
                SignedProviderToken(
                    text: state.text,
                    issuedAt: Date(secondsSince1970: state.issuedAt),
                    validity: validity
                )
            )
        }
        return try result.get()
    }

    /// Records that APNs rejected the token with this time of issue as expired.
    public func expired(tokenIssuedAt issuedAt: Date) {
        let now = clock.secondsSince1970()
        state.withLock { $0.machine.rejected(tokenIssuedAt: issuedAt.secondsSince1970, at: now) }
    }

    /// Signs with this key from the next token on; see ``PushClient/replaceKey(with:)``.
    ///
    /// - Parameter key: Another key of the same team.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key belongs to another team.
    func replaceKey(with key: SigningKey) throws(APNsError) {
        let otherTeam: String? = state.withLock { state in
            guard state.key.teamID == key.teamID else { return state.key.teamID }
            if !state.key.isSame(as: key) { state.machine = ProviderTokenMachine(.local) }
            state.key = key
            return nil
        }
        guard let otherTeam else { return }
        throw APNsError(
            .badCredentials,
            description:
                "the key \(key.keyID) must be of this client's team \(otherTeam) (found team \(key.teamID)): "
                + "create another client"
        )
    }
}
