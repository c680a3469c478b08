// SPDX-License-Identifier: Apache-2.0

/// The answer of the outbox to a submitted push.
package enum Acceptance: Sendable, Hashable {
    /// The push is stored.
    case accepted
    /// The same push with the same identifier was accepted before and has this status.
    case duplicate(PushStatus)
    /// Another push has this identifier.
    case conflict
    /// Apple has reported the token as unregistered, and the device has not registered it again since.
    case suppressed(UnregisteredToken)
    /// No installation of the user that the push is for has its token any more.
    case formerUser
    /// The user gets as many alerts on the day of the push as its ``OutboxPush/alertLimit`` permits.
    case limited
    /// The maximum number of waiting pushes is reached.
    case full
    /// A push with this identifier was deleted while this one was being stored: this one can be submitted again.
    case vanished
}
