// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer

/// The first checks of a request over the APNs protocol, before its content is read.
struct APNsAuthorization {
    /// The decision about a request.
    enum Decision: Equatable {
        /// The request may be processed for the caller.
        case passed(Callers.Caller)
        case rejected(APNsReason, retryAfter: Int? = nil)
        /// The credentials of a known caller are not valid at this time, which is logged.
        case invalidCredentials(CallerRefusal, APNsReason)
    }

    let isDraining: Bool

    /// Decides about a request, from a known caller or with the reason to reject credentials that identify none.
    func decision(
        on request: APNsRequest,
        from caller: Callers.Caller?,
        rejection: (_ authorization: String?) -> APNsReason,
        at now: Int64
    ) -> Decision {
        guard let target = request.target else { return .rejected(.badPath) }
        guard let caller else { return .rejected(rejection(request.authorization)) }
        let isAboutChannels =
            switch target {
            case .channels, .allChannels: true
            case .device, .broadcast: false
            }
        guard isAboutChannels || caller.scopes.contains(.send) else { return .rejected(.invalidProviderToken) }
        if let reason = caller.refusal(at: now / 1_000) {
            return .invalidCredentials(caller.refusal(for: reason), reason)
        }
        return isDraining ? .rejected(.shutdown, retryAfter: 1) : .passed(caller)
    }
}
