// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension RequestEvaluator.Answer {
    /// Creates the answer that a fault gives to any request at this time in seconds since 1970; nil for other faults.
    init?(_ injection: FaultInjection, at now: Int64) {
        guard case .respond(let reason, let status, let retryAfter) = injection.action else { return nil }
        self.init(
            status: status ?? reason.status ?? 400,
            reason: reason,
            retryAfter: retryAfter,
            finding: RefusalRules.answer(reason, by: injection)
        )
        if reason.isTokenUnregistered { timestamp = now }
    }

    /// The number of errors that the answer counts for.
    ///
    /// Apple says that too many errors end the connection, that those about bad device tokens do so sooner, and that
    /// 410 is not an error; it gives no numbers ("Handling notification responses from APNs").
    var errorWeight: Int {
        guard (400..<500).contains(status), reason?.isTokenUnregistered != true else { return 0 }
        return reason == .badDeviceToken ? 2 : 1
    }
}
