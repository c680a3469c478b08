// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A surface on one installation: what a relay has sent, and what it knows of the phone.
package struct StoredSession: Sendable, Hashable {
    /// The number, which increases with each new session; pushes have it as ``OutboxPush/session``.
    package var number: Int64
    /// The ``StoredSurface/number``.
    package var surface: Int64
    /// The ``StoredInstallation/number``.
    package var installation: Int64
    /// The revision of the surface with which the installation was in its audience last; 0 once it has left it.
    package var revision: Int64
    /// The version, which increases with each change, and by which a step notices that another change came first.
    package var version: Int64
    /// The JSON of the session's decisions, which the store does not interpret; empty before the first step.
    package var state: [UInt8]
    /// The results of pushes that have ended since the last step, in their order.
    package var results: [SessionResult]
    /// The time of the next step, in milliseconds since 1970: that of a change at the latest, and nil to wait for one.
    package var dueAt: Int64?
    /// Whether the state cannot be decrypted, because its row was changed: it is empty.
    package var isDamaged = false

    /// Creates a session as it was read.
    package init(
        number: Int64,
        surface: Int64,
        installation: Int64,
        revision: Int64,
        version: Int64 = 0,
        state: [UInt8] = [],
        results: [SessionResult] = [],
        dueAt: Int64?
    ) {
        self.number = number
        self.surface = surface
        self.installation = installation
        self.revision = revision
        self.version = version
        self.state = state
        self.results = results
        self.dueAt = dueAt
    }
}

/// The result of a push of a session.
package struct SessionResult: Sendable, Hashable {
    package var id: APNsID
    package var state: Outcome.State
    /// The status of Apple's last answer; nil when there was none.
    package var status: Int?
    /// The time of the end, in milliseconds since 1970.
    package var endedAt: Int64

    /// The time at which a session with a later time of its next step is due, in milliseconds since 1970.
    ///
    /// Nothing depends on the acceptance of a push in such a session. The result waits for ten seconds, in which a
    /// change may make the session due: one step then takes both.
    package var dueAt: Int64 { state == .delivered ? endedAt + 10_000 : endedAt }

    /// Creates a result.
    package init(id: APNsID, state: Outcome.State, status: Int?, endedAt: Int64) {
        self.id = id
        self.state = state
        self.status = status
        self.endedAt = endedAt
    }
}

/// A session that is due, with everything that its next step depends on.
package struct DueSession: Sendable, Hashable {
    package var session: StoredSession
    package var surface: StoredSurface
    package var installation: StoredInstallation

    /// Creates a session that was read together with its surface and its installation.
    package init(session: StoredSession, surface: StoredSurface, installation: StoredInstallation) {
        self.session = session
        self.surface = surface
        self.installation = installation
    }

    /// The surface and the installation, to which the encrypted state belongs.
    package var place: SessionPlace {
        SessionPlace(app: surface.surface.app, surface: surface.surface.id, installation: installation.installation.id)
    }
}

/// The surface and the installation of a session, which are the same in each store.
package struct SessionPlace: Sendable, Hashable {
    package var app: String
    /// The identifier of the surface.
    package var surface: String
    package var installation: InstallationID
}

/// A step of a session: its new state, and the pushes that are stored together with it.
package struct SessionStep: Sendable {
    /// The number of the session.
    package let session: Int64
    /// The version with which the session was read: the step is stored only while it still has it.
    package let version: Int64
    /// The surface and the installation of the session.
    let place: SessionPlace
    package private(set) var state: [UInt8]
    /// The time of the next step, in milliseconds since 1970; nil to wait for a change.
    package let dueAt: Int64?
    /// Whether a change of a large surface comes first to this phone, because a push can show it.
    package let isReachable: Bool
    /// Whether the session is removed, because nothing of the surface is on the phone, and nothing shall be.
    package let isFinished: Bool
    /// The identifiers of pushes of the session that are cancelled, unless they are claimed or have ended.
    package let cancelled: [APNsID]
    /// The pushes, which have the number of the session, and identifiers that no other push has.
    package private(set) var pushes: [HashedPush]

    /// Creates a step, and calculates the hashes of its pushes on the executor of the caller.
    ///
    /// - Parameters:
    ///   - due: The session as it was read.
    ///   - state: The new state.
    ///   - dueAt: The time of the next step; nil to wait for a change, of which the acceptance of a push is one.
    ///   - isReachable: Whether a push can show a change of the surface.
    ///   - isFinished: Whether the session is removed.
    ///   - cancelled: The identifiers of pushes of the session to cancel.
    ///   - pushes: The pushes, of the app of the surface and without identifiers of a caller.
    package init(
        of due: DueSession,
        state: [UInt8],
        dueAt: Int64?,
        isReachable: Bool = true,
        isFinished: Bool = false,
        cancelled: [APNsID] = [],
        pushes: [OutboxPush] = []
    ) {
        session = due.session.number
        version = due.session.version
        place = due.place
        self.state = state
        self.dueAt = dueAt
        self.isReachable = isReachable
        self.isFinished = isFinished
        self.cancelled = cancelled
        self.pushes = pushes.map { push in
            var push = push
            push.session = due.session.number
            return HashedPush(push)
        }
    }

    /// Returns the step with another form of its state and its pushes.
    func replacing(state: [UInt8], pushes: [HashedPush]) -> SessionStep {
        var step = self
        step.state = state
        step.pushes = pushes
        return step
    }
}

/// The answer of a store to a step.
package enum SessionStepResult: Sendable, Hashable {
    /// The step is stored.
    ///
    /// A push that was not stored, such as one to a token that Apple has reported as unregistered, has the result
    /// `cancelled`, as one that the step has cancelled, and the session is due at once.
    case stored
    /// The session has another version or was removed: nothing is stored.
    case outdated
    /// The pushes exceed the maximum number of waiting pushes: nothing is stored.
    case full
}

/// The answer of a store to steps.
package struct StoredSteps: Sendable, Hashable {
    /// One answer for each step, in the same order.
    package var results: [SessionStepResult] = []
    /// The pushes that the steps have cancelled, without those that were claimed or had ended.
    package var cancelled: [PushStatus] = []

    /// Creates the answer to steps, by default to none.
    package init(results: [SessionStepResult] = [], cancelled: [PushStatus] = []) {
        self.results = results
        self.cancelled = cancelled
    }
}

/// The installations that get the current state of a surface, which are stored together with its new cursor.
package struct SurfacePage: Sendable, Hashable {
    /// The ``StoredSurface/number``, and the revision and the cursor with which the page was made: it is stored only
    /// while the surface still has both.
    package var surface: Int64
    package var revision: Int64
    package var cursor: Int64
    /// The new cursor; nil when no further page follows.
    package var next: Int64?
    /// The ``StoredInstallation/number`` of each installation of the page.
    package var installations: [Int64]

    /// The time by which a session with ``SessionStep/isReachable`` false is due later than others, in milliseconds, if
    /// the surface has several pages: the phones that can show the change do not wait for those that cannot.
    package static let unreachableDelay: Int64 = 5_000

    /// Whether the surface has several pages.
    package var isOneOfSeveral: Bool { cursor > 0 || next != nil }

    /// Creates a page of the current state of a surface.
    package init(of stored: StoredSurface, next: Int64?, installations: [Int64]) {
        surface = stored.number
        revision = stored.revision
        cursor = stored.cursor ?? 0
        self.next = next
        self.installations = installations
    }
}

/// An installation whose audiences may have changed: it enrolled, was imported, or its content changed.
package struct InstallationEvent: Sendable, Hashable {
    /// The number of the event, which increases with each change.
    package var number: Int64
    package var installation: StoredInstallation

    /// Creates an event.
    package init(number: Int64, installation: StoredInstallation) {
        self.number = number
        self.installation = installation
    }
}

/// All surfaces whose audience an installation is in, as they were read after its event.
package struct SurfaceMembership: Sendable, Hashable {
    package var event: InstallationEvent
    package var surfaces: [StoredSurface]
    /// Other surfaces that the phone shows nevertheless, such as a withdrawn one, or one of the user before.
    package var shown: [StoredSurface]

    /// Creates the membership of the installation of an event.
    package init(of event: InstallationEvent, in surfaces: [StoredSurface], showing shown: [StoredSurface] = []) {
        self.event = event
        self.surfaces = surfaces
        self.shown = shown
    }
}
