internal import APNs
internal import Synchronization
internal import Wire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes the provider tokens of one key for everything in this process that shares it.
///
/// A token is replaced after 50 minutes, or when APNs calls it expired, but for that reason at most every 20.
/// Making one takes a lock for the time of one signature, so that no two are ever made at once.
public final class InMemoryMint: ProviderTokenMint {
    private struct State {
        var key: SigningKey
        var schedule = ProviderTokenSchedule()
        var text: [UInt8] = []
        var issuedAt: Int64 = 0
    }

    private let clock: WallClock
    private let state: Mutex<State>

    /// A mint that signs with this key.
    ///
    /// - Parameter key: The key.
    public convenience init(_ key: SigningKey) {
        self.init(key, clock: .system)
    }

    init(_ key: SigningKey, clock: WallClock) {
        self.clock = clock
        state = Mutex(State(key: key))
    }

    /// The token to use now.
    ///
    /// - Returns: The token.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key cannot sign.
    public func token() throws(APNsError) -> MintedToken {
        let now = clock.secondsSince1970()
        let result: Result<MintedToken, APNsError> = state.withLock { state in
            // The schedule counts a token as made once it is.
            var schedule = state.schedule
            if case .mint(let issuedAt) = schedule.tokenNeeded(at: now) {
                do throws(APNsError) {
                    state.text = try state.key.token(issuedAt: Date(secondsSince1970: issuedAt))
                    state.issuedAt = issuedAt
                } catch {
                    return .failure(error)
                }
            }
            state.schedule = schedule
            let validity = Duration.seconds(schedule.secondsUntilRefresh(at: now))
            return .success(
                MintedToken(text: state.text, issuedAt: Date(secondsSince1970: state.issuedAt), validity: validity)
            )
        }
        return try result.get()
    }

    /// APNs called the token of this time of issue expired.
    public func expired(tokenIssuedAt issuedAt: Date) {
        let now = clock.secondsSince1970()
        state.withLock { $0.schedule.expired(tokenIssuedAt: issuedAt.secondsSince1970, at: now) }
    }

    /// Signs with this key from the next token on; see ``PushClient/replaceKey(with:)``.
    ///
    /// - Parameter key: Another key of the same team.
    /// - Throws: ``APNsError`` with the code `badCredentials` when it is another team's.
    func replaceKey(with key: SigningKey) throws(APNsError) {
        let otherTeam: String? = state.withLock { state in
            guard state.key.teamID == key.teamID else { return state.key.teamID }
            if state.key.keyID != key.keyID { state.schedule = ProviderTokenSchedule() }
            state.key = key
            return nil
        }
        guard let otherTeam else { return }
        throw APNsError(
            .badCredentials,
            description:
                "the key \(key.keyID) is of team \(key.teamID), this client of \(otherTeam): make another client"
        )
    }
}
