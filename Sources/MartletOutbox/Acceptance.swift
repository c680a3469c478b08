// SPDX-License-Identifier: Apache-2.0

/// The answer of the outbox to a submitted push.
package enum Acceptance: Sendable, Hashable {
    /// The push is stored.
    case accepted
    /// The push is stored, and these pushes have ended as ``Outcome/State/superseded``, latest first.
    ///
    /// Their histories are empty. Some of them may have been accepted in the same call.
    case superseding([PushStatus])
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
    /// A transaction of a back end that has stored a push with this identifier is open: this one can be submitted again
    /// when the transaction has ended.
    case contested

    /// Whether the push was stored by the call.
    package var isStored: Bool {
        switch self {
        case .accepted, .superseding: true
        case .duplicate, .conflict, .suppressed, .formerUser, .limited, .full, .vanished, .contested: false
        }
    }

    /// The pushes that have ended because the push replaces them.
    package var superseded: [PushStatus] { if case .superseding(let pushes) = self { pushes } else { [] } }
}
