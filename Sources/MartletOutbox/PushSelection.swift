// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// Pushes that one index finds in the order of their numbers, so that a page of them costs no more than its rows.
package enum PushSelection: Sendable, Hashable {
    /// The pushes to a user, and those to a token that an installation of the user had when they were accepted, even if
    /// another user's installation has the token now.
    case user(String)
    /// The pushes to a token that no installation had when they were accepted.
    case tokenWithoutUser(DeviceToken)

    /// The user, or the digits of the token.
    var value: String {
        switch self {
        case .user(let user): user
        case .tokenWithoutUser(let token): token.hex
        }
    }

    /// Returns the selections that together have the pushes of a user, each in one of them.
    ///
    /// A push to a token that no installation had belongs to the user whose installation has the token now.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - installations: The user's installations.
    /// - Returns: The selections.
    package static func all(ofUser user: String, with installations: [Installation]) -> [PushSelection] {
        // A token may be in several slots.
        let tokens = Set(installations.flatMap { $0.tokens.values.map(\.token) })
        return [.user(user)] + tokens.map { .tokenWithoutUser($0) }
    }
}

/// A page of the pushes of a selection.
package struct FoundPushes: Sendable, Hashable {
    /// The pushes, oldest first; there may be none before the last page.
    package var pushes: [PushStatus] = []
    /// The cursor of the next page; nil after the last one.
    package var next: Int64?

    /// Creates an empty last page.
    package init() {}
}

/// The pushes that a step of an erasure has removed.
package struct ErasedPushes: Sendable, Hashable {
    /// The waiting pushes, which are cancelled.
    package var cancelled: [PushStatus] = []
    /// The number of deleted dead letters.
    package var deadLetters = 0
    /// The cursor of the next step; nil after the last one.
    package var next: Int64?

    /// Creates the result of a last step that has removed nothing.
    package init() {}
}
