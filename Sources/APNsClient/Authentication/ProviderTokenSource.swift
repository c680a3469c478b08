internal import APNs
internal import Synchronization
internal import Wire

/// The one place of a client that makes provider tokens; every connection takes the same one from here.
///
/// Making a token takes the lock for the time of one signature, so that no two are ever made at once.
final class ProviderTokenSource: Sendable {
    /// A token ready to be sent.
    struct Authorization: Sendable {
        /// The value of the `authorization` field.
        var value: [UInt8]
        /// When the token was issued, in seconds since 1970.
        var issuedAt: Int64
        /// How long it may be used before asking again.
        var validity: Duration
    }

    private struct State {
        var schedule = ProviderTokenSchedule()
        var value: [UInt8] = []
        var issuedAt: Int64 = 0
    }

    private let key: SigningKey
    private let clock: WallClock
    private let state = Mutex(State())

    init(key: SigningKey, clock: WallClock) {
        self.key = key
        self.clock = clock
    }

    /// The token to use now.
    ///
    /// - Throws: ``APNsError`` of kind `.badCredentials` when the key cannot sign.
    func authorization() throws(APNsError) -> Authorization {
        let now = clock.secondsSince1970()
        let result: Result<Authorization, APNsError> = state.withLock { state in
            // The schedule counts a token as made once it is.
            var schedule = state.schedule
            if case .mint(let issuedAt) = schedule.tokenNeeded(at: now) {
                do throws(APNsError) {
                    state.value = Array("bearer ".utf8) + (try key.token(issuedAt: issuedAt))
                    state.issuedAt = issuedAt
                } catch {
                    return .failure(error)
                }
            }
            state.schedule = schedule
            return .success(
                Authorization(
                    value: state.value,
                    issuedAt: state.issuedAt,
                    validity: .seconds(state.schedule.secondsUntilRefresh(at: now))
                )
            )
        }
        return try result.get()
    }

    /// APNs called the token of this time of issue expired.
    func expired(tokenIssuedAt: Int64) {
        let now = clock.secondsSince1970()
        state.withLock { $0.schedule.expired(tokenIssuedAt: tokenIssuedAt, at: now) }
    }
}
