// SPDX-License-Identifier: Apache-2.0

/// The result of the import of one installation of a page.
package enum ImportResult: String, Sendable, Hashable, CaseIterable {
    /// The installation is new.
    case added
    /// An installation that was imported before has other content now.
    case changed
    /// An installation that was imported before has this content.
    case unchanged
    /// An app has enrolled with the identifier or with the tokens, and reports its installation itself.
    case known
    /// Apple has reported the tokens as unregistered.
    case unregistered
    /// An installation of another app has the identifier.
    case identifierIsTaken = "identifier-is-taken"
    /// The user has as many installations as a user may have.
    case userIsFull = "user-is-full"
}

extension Installation {
    /// Changes an installation of an earlier import to the content of another one.
    ///
    /// - Parameters:
    ///   - new: The new content, with the same identifier and app.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: Whether the content has changed.
    mutating func update(from new: Installation, at now: Int64) -> Bool {
        let isSame = user.utf8.elementsEqual(new.user.utf8) && hasSameContent(as: new)
        guard !isSame else { return false }
        user = new.user
        environment = new.environment
        bundleID = new.bundleID
        let registered = tokens
        tokens = new.tokens
        for (slot, old) in registered where tokens[slot]?.token == old.token { tokens[slot] = old }
        activities = new.activities
        attributes = new.attributes
        permissions = new.permissions
        tags = new.tags
        changedAt = now
        return true
    }
}
