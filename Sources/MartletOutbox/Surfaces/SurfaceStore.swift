// SPDX-License-Identifier: Apache-2.0

/// The surfaces of apps, and their sessions on installations.
///
/// A relay brings a surface to phones in three kinds of work, each of which a crash only repeats:
///
/// 1. After a change of the surface, pages of its audience get sessions that are due: ``unfinishedSurfaces(limit:)``
///    and ``store(_:at:)-([SurfacePage],_)``.
/// 2. After a change of an installation, it gets the sessions of surfaces whose audience it has joined:
///    ``installationEvents(limit:)`` and ``store(_:at:)-([SurfaceMembership],_)``.
/// 3. A session that is due has a step: ``dueSessions(at:limit:)`` and ``store(_:at:)-([SessionStep],_)``.
///
/// A store guarantees:
///
/// - A step is stored once: its state and its pushes in one transaction, and only if nothing has happened to the
///   session since it was read.
/// - A push that ends adds its ``SessionResult`` to its session in the same transaction, whatever ends it, and makes
///   the session due: at once, or at ``SessionResult/dueAt`` if the session has a time of its next step.
/// - A change of an installation, of anything but the times of reports, makes its sessions due in the same transaction.
///   It also records an event while its app has surfaces, withdrawn ones included.
/// - The removal of an installation removes its sessions and its events.
/// - The apps take turns where a limited number of surfaces, events or sessions is read, so that many of one app do not
///   delay another. The turns of an app go to its oldest one, its newest one, the next oldest one and so on: a new
///   change need not wait for all earlier ones.
/// - A change makes a session due at the time of the change, unless it was due before. The change of an installation
///   has the time of ``Installation/changedAt``, which the loss of a token to another installation, or by an answer of
///   Apple, leaves as it is.
///
/// Times are milliseconds since 1970. Methods can be called concurrently. Texts may not contain control characters.
package protocol SurfaceStore: Sendable {
    /// The requests of back ends in SQL; nil for a store that only relays can write to.
    var enqueued: (any EnqueuedSurfaceStore)? { get }

    /// Stores a surface: a new one, or the new state of a stored one.
    ///
    /// The condition is checked first. Then a stored surface with the same fingerprint, audience and end, which was not
    /// withdrawn, does not change. Otherwise its revision increases, and its first page is due, unless another surface
    /// of the app that is not withdrawn has the channel.
    ///
    /// - Parameters:
    ///   - surface: The surface.
    ///   - condition: The condition that the stored surface must meet.
    ///   - limit: The maximum number of surfaces of the app that are not withdrawn.
    ///   - now: The time.
    /// - Returns: The stored surface, or why it has not changed.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange

    /// Withdraws a surface, whose sessions then remove it from the phones: they are due after its first page, which has
    /// no installations.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - app: The app.
    ///   - condition: The condition that the stored surface must meet.
    ///   - now: The time.
    /// - Returns: The surface with a new revision; `unchanged` for one that meets the condition and was withdrawn
    ///   before; `refused(nil)` for an unknown one.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func withdraw(
        _ id: String,
        of app: String,
        if condition: SurfacePrecondition,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange

    /// Removes a user from the audiences of surfaces, also of withdrawn ones, without a new revision.
    ///
    /// A surface that is left without users, or whose audience is an installation of the user, is withdrawn, and
    /// deleted unless an installation has a session of it. One that is kept has an audience without users, and an empty
    /// request and fingerprint.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - installations: The installations of the user.
    ///   - app: The app.
    ///   - now: The time.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func removeUser(
        _ user: String,
        with installations: [InstallationID],
        of app: String,
        at now: Int64
    ) async throws(OutboxError)

    /// Returns the surface with an identifier; nil for an unknown one.
    func surface(_ id: String, of app: String) async throws(OutboxError) -> StoredSurface?

    /// Returns surfaces of an app in the order of their numbers.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - number: Only surfaces after this number; 0 for all.
    ///   - limit: The maximum number of surfaces.
    /// - Returns: The surfaces, also withdrawn ones.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func surfaces(of app: String, after number: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface]

    /// Returns the surfaces of an app with a broadcast channel that are not withdrawn, in the order of the channels.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - channel: Only surfaces with a channel after this one; empty for all.
    ///   - limit: The maximum number of surfaces.
    /// - Returns: The surfaces.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func surfacesWithChannel(
        of app: String,
        after channel: String,
        limit: Int
    ) async throws(OutboxError) -> [StoredSurface]

    /// Returns the number of surfaces that are not withdrawn, of each app that has some.
    func surfaceCounts() async throws(OutboxError) -> [String: Int]

    /// Returns the surfaces that installations of a user, or an installation, may show, in the order of their numbers:
    /// without those whose audience is an expression, and without withdrawn ones.
    ///
    /// Their requests and fingerprints are empty: they are read after each change of the installation.
    func surfaces(
        for user: String,
        _ installation: InstallationID,
        of app: String
    ) async throws(OutboxError) -> [StoredSurface]

    /// Returns the surfaces of an app whose audience is an expression, and which are not withdrawn, in the order of
    /// their numbers.
    ///
    /// Their requests and fingerprints are empty: an app may have very many of these surfaces, and all of them are
    /// compared with each installation that has changed.
    func surfacesWithExpression(of app: String) async throws(OutboxError) -> [StoredSurface]

    /// Returns the surfaces in whose audience an installation was when it was considered last, the latest change first.
    ///
    /// - Parameters:
    ///   - installation: The ``StoredInstallation/number``.
    ///   - limit: The maximum number of surfaces.
    /// - Returns: The surfaces, without withdrawn ones. Their current audiences may not include the installation.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func surfaces(on installation: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface]

    /// Returns sessions of a surface, each with its installation, in the order of the installations.
    ///
    /// - Parameters:
    ///   - surface: The surface.
    ///   - installation: Only sessions of installations after this ``StoredInstallation/number``; 0 for all.
    ///   - limit: The maximum number of sessions.
    /// - Returns: The sessions, with `surface` as it was passed.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func sessions(
        of surface: StoredSurface,
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [DueSession]

    /// Returns surfaces that have a next page, in the order of the turns of their apps, by the time of the last change.
    func unfinishedSurfaces(limit: Int) async throws(OutboxError) -> [StoredSurface]

    /// Stores pages of surfaces in one transaction: each installation that exists gets a session with the revision,
    /// which is due, of a large surface after ``SurfacePage/unreachableDelay`` if it is known not to be reachable.
    ///
    /// After the last page, the sessions of installations that no page has named with the revision get the revision 0
    /// and are due, too: they have left the audience. If there are very many, the surface keeps a cursor, so that an
    /// empty page follows.
    ///
    /// The event of an installation of the page gets a new number, because its surfaces may have been read before.
    ///
    /// - Parameters:
    ///   - pages: The pages, each of another surface.
    ///   - now: The time.
    /// - Returns: Whether each page is stored, in the same order; otherwise the surface has another revision or cursor.
    /// - Throws: ``OutboxError``; if it is of kind `.unreachable`, the pages may be stored.
    func store(_ pages: [SurfacePage], at now: Int64) async throws(OutboxError) -> [Bool]

    /// Returns events, at most one for each installation, in the order of their numbers.
    func installationEvents(limit: Int) async throws(OutboxError) -> [InstallationEvent]

    /// Stores the sessions of installations, which are due, and removes their events, in one transaction.
    ///
    /// The other sessions of an installation with the current revision of their surface get the revision 0 and are
    /// due, because it has left their audience. A surface that has changed since it was read is left out in any case:
    /// its pages name the installations. An installation without a session of a surface that it shows gets one with the
    /// revision 0, which is due, too. An installation with a newer event does not change.
    ///
    /// - Parameters:
    ///   - memberships: The surfaces of the installations, each of another one.
    ///   - now: The time.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func store(_ memberships: [SurfaceMembership], at now: Int64) async throws(OutboxError)

    /// Returns sessions that are due, longest waiting first, with their surfaces and installations.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - limit: The maximum number of sessions, of which the apps take turns.
    /// - Returns: The sessions.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func dueSessions(at now: Int64, limit: Int) async throws(OutboxError) -> [DueSession]

    /// Stores steps in one transaction.
    ///
    /// - Parameters:
    ///   - steps: The steps, each of another session.
    ///   - now: The time.
    /// - Returns: The answer to each step, and the pushes that were cancelled.
    /// - Throws: ``OutboxError``; if it is of kind `.unreachable`, the steps may be stored. Otherwise nothing has
    ///   changed.
    func store(_ steps: [SessionStep], at now: Int64) async throws(OutboxError) -> StoredSteps

    /// Makes sessions due whose next step is only due after a time, as after the clock was set back.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - now: The current time, at which they are due.
    ///   - limit: The maximum number of sessions.
    /// - Returns: The number of sessions. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func recallSessions(dueAfter time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int

    /// Withdraws surfaces whose ``Surface/endsAt`` has passed, and deletes those that were withdrawn before a time and
    /// have no sessions.
    ///
    /// - Parameters:
    ///   - time: The time before which a surface must have been withdrawn to be deleted.
    ///   - now: The current time.
    ///   - limit: The maximum number of surfaces, so that other calls need not wait for long.
    /// - Returns: The number of surfaces that were withdrawn or deleted. When it is the limit, more may be left.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func endSurfaces(withdrawnBefore time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int
}
