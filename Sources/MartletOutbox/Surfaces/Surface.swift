// SPDX-License-Identifier: Apache-2.0

/// The state that phones of an audience shall show, until it is withdrawn.
///
/// A surface is identified by its name, and replaced as a whole: what it shows is in ``request``, which the store does
/// not interpret.
package struct Surface: Sendable, Hashable {
    package var app: String
    /// The identifier, such as `order-7`, unique among the surfaces of the app.
    package var id: String
    /// The name of the caller that stored it.
    package var caller: String
    package var audience: SurfaceAudience
    /// The JSON from which pushes are built.
    package var request: [UInt8]
    /// The hash of what the request shows, by which the store recognizes one that changes nothing.
    package var fingerprint: [UInt8]
    /// The time when the surface is withdrawn, in milliseconds since 1970; nil for never.
    package var endsAt: Int64?
    /// The identifier of the broadcast channel in the request; nil for none.
    ///
    /// Of the surfaces of an app that are not withdrawn, at most one has it, because a broadcast reaches each Live
    /// Activity on the channel.
    package var channel: String?

    /// Creates a surface, by default without an end and without a channel.
    package init(
        app: String,
        id: String,
        caller: String,
        audience: SurfaceAudience,
        request: [UInt8],
        fingerprint: [UInt8],
        endsAt: Int64? = nil,
        channel: String? = nil
    ) {
        self.app = app
        self.id = id
        self.caller = caller
        self.audience = audience
        self.request = request
        self.fingerprint = fingerprint
        self.endsAt = endsAt
        self.channel = channel
    }
}

/// The installations that show a surface.
package enum SurfaceAudience: Sendable, Hashable {
    /// Those of users, also the ones that enroll later.
    case users([String])
    case installation(InstallationID)
    /// Those that match an expression, as soon as they do.
    case matching(AudienceExpression)
}

/// A surface as it is stored.
package struct StoredSurface: Sendable, Hashable {
    /// The number, which increases with each new surface.
    package var number: Int64
    /// The number of the state, which starts at 1 and increases with each change, also when the surface is withdrawn.
    package var revision: Int64
    package var surface: Surface
    /// The times in milliseconds since 1970.
    package var createdAt: Int64
    package var changedAt: Int64
    /// The time when the surface was withdrawn; nil while it shall be shown.
    package var withdrawnAt: Int64?
    /// The number of the last installation that got the current state; nil once all of them have it.
    package var cursor: Int64?
    /// Whether the request cannot be decrypted, or the audience cannot be read, because its row was changed: nothing
    /// can be sent for it.
    package var isDamaged = false

    /// Creates a surface as it was read.
    package init(
        number: Int64,
        revision: Int64,
        surface: Surface,
        createdAt: Int64,
        changedAt: Int64,
        withdrawnAt: Int64? = nil,
        cursor: Int64? = 0
    ) {
        self.number = number
        self.revision = revision
        self.surface = surface
        self.createdAt = createdAt
        self.changedAt = changedAt
        self.withdrawnAt = withdrawnAt
        self.cursor = cursor
    }

    /// Returns whether the surface is shown with the content of another one, so that storing that changes nothing.
    ///
    /// Users are compared byte by byte: Swift takes some for equal that are not.
    package func shows(_ other: Surface) -> Bool {
        let (own, new) = (surface.audience.columns, other.audience.columns)
        return withdrawnAt == nil && !isDamaged && surface.fingerprint == other.fingerprint
            && surface.endsAt == other.endsAt && own.kind == new.kind && own.text.utf8.elementsEqual(new.text.utf8)
    }
}

/// A condition for the change of a surface (RFC 9110 section 13.1).
package enum SurfacePrecondition: Sendable, Hashable {
    case none
    /// The surface does not exist, or was withdrawn.
    case isAbsent
    /// The surface has this revision and was not withdrawn.
    case hasRevision(Int64)

    /// Returns whether a surface, nil for an unknown one, meets the condition.
    package func allows(_ stored: StoredSurface?) -> Bool {
        let current = stored.flatMap { $0.withdrawnAt == nil ? $0.revision : nil }
        return switch self {
        case .none: true
        case .isAbsent: current == nil
        case .hasRevision(let revision): current == revision
        }
    }
}

/// The answer of a store to a change of a surface.
package enum SurfaceChange: Sendable, Hashable {
    /// The surface has a new revision; a withdrawn one is shown again.
    case changed(StoredSurface)
    /// The surface has the content already: nothing has changed.
    case unchanged(StoredSurface)
    /// The surface, nil for an unknown one, does not meet the condition: nothing has changed.
    case refused(StoredSurface?)
    /// Another surface of the app, which is not withdrawn, has the channel: nothing has changed. The value is the
    /// identifier of that surface.
    case channelInUse(by: String)
    /// The app has as many surfaces as it may have: nothing has changed.
    case full
}
