// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A change of an installation: only what it names changes.
package struct InstallationChange: Sendable, Hashable {
    /// The origin of a change.
    package enum Author: Sendable, Hashable {
        /// The app, whose reports are the times at which it was seen and its tokens were registered.
        case app
        case backEnd
    }

    package var environment: PushEnvironment?
    package var bundleID: String?
    /// The tokens to register, or nil to remove the token of a slot.
    package var tokens: [Installation.TokenSlot: DeviceToken?] = [:]
    /// The kinds of which all tokens are removed, before ``tokens`` are registered; with the kind of activities, all
    /// activities are removed.
    package var removedKinds: Set<Installation.TokenKind> = []
    /// The changes of Live Activities, or nil to remove one; their tokens are among ``tokens``.
    package var activities: [String: ActivityChange?] = [:]
    /// The new attributes, or nil to remove one.
    package var attributes: [Installation.Attribute: String?] = [:]
    /// The new permissions, or nil to remove one.
    package var permissions: [Installation.Permission: Bool?] = [:]
    package var tags: Set<String>?

    /// Creates a change of nothing.
    package init() {}
}

/// An error for a change that would break a rule of installations.
package enum InstallationChangeError: Error, Sendable, Hashable {
    /// The installation would have this number of tokens of a kind, or of running activities.
    case number(Installation.TokenKind, Int)
    /// The installation would have this ``Installation/byteCount``.
    case bytes(Int)
    /// The change of a Live Activity that is unknown has no surface.
    case noSurface(activity: String)
}

extension Installation {
    /// The time after which a report without changes is stored, in milliseconds: an hour.
    private static let seenInterval: Int64 = 3_600_000

    /// Applies a change.
    ///
    /// All tokens belong to the environment of the installation. When it changes, the tokens that the change does not
    /// register are removed: they belong to the other environment, where pushes to them fail.
    ///
    /// Of activities that have ended, only the newest are kept, so that old ones prevent no change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - now: The time in milliseconds since 1970.
    ///   - author: The origin of the change.
    /// - Throws: ``InstallationChangeError``; the installation is unchanged then.
    package mutating func apply(
        _ change: InstallationChange,
        at now: Int64,
        by author: InstallationChange.Author
    ) throws(InstallationChangeError) {
        var new = self
        if let environment = change.environment, environment != new.environment {
            new.environment = environment
            new.tokens = [:]
        }
        new.bundleID = change.bundleID ?? new.bundleID
        new.tokens = new.tokens.filter { !change.removedKinds.contains($0.key.kind) }
        for (slot, token) in change.tokens {
            new.tokens[slot] = token.map { RegisteredToken($0, registeredAt: now) }
        }
        if change.removedKinds.contains(.activity) { new.activities = [:] }
        try new.apply(change.activities)
        for kind in TokenKind.allCases {
            let count = kind == .activity ? new.runningActivityCount : new.tokens.count { $0.key.kind == kind }
            guard count <= kind.limit else { throw .number(kind, count) }
        }
        // An installation that is larger already can be made smaller.
        let limit = max(Self.byteLimit, byteCount)
        new.dropEndedActivities(to: limit)
        guard new.byteCount <= limit else { throw .bytes(new.byteCount) }
        for (attribute, text) in change.attributes { new.attributes[attribute] = text }
        for (permission, isGiven) in change.permissions { new.permissions[permission] = isGiven }
        new.tags = change.tags ?? new.tags
        if !new.hasSameContent(as: self) { new.changedAt = now }
        // A report that changes nothing is stored only from time to time.
        let (silence, overflows) = now.subtractingReportingOverflow(seenAt)
        if author == .app, new != self || overflows || silence >= Self.seenInterval { new.seenAt = now }
        self = new
    }

    /// Returns whether another state of this installation differs at most in its user and the times of reports.
    func hasSameContent(as other: Installation) -> Bool {
        environment == other.environment && bundleID == other.bundleID && attributes == other.attributes
            && permissions == other.permissions && tags == other.tags
            && activities == other.activities && tokens.mapValues(\.token) == other.tokens.mapValues(\.token)
    }
}

/// The rows that differ between two states of an installation.
package struct InstallationDifference: Sendable, Hashable {
    package var removed: Set<Installation.TokenSlot>
    /// The tokens that are new, or were reported again.
    package var registered: [Installation.TokenSlot: Installation.RegisteredToken]
    /// The tags; nil if they are the same.
    package var tags: [String]?
    /// All activities; nil if they are the same.
    package var activities: [String: Installation.Activity]?

    /// Compares two states; without an old one, everything is new.
    package init(from old: Installation?, to new: Installation) {
        removed = Set(old?.tokens.keys.filter { new.tokens[$0] == nil } ?? [])
        registered = new.tokens.filter { old?.tokens[$0.key] != $0.value }
        tags = old?.tags == new.tags ? nil : new.tags.sorted()
        activities = old?.activities == new.activities ? nil : new.activities
    }
}
