// SPDX-License-Identifier: Apache-2.0

/// The installations of apps, and the tickets with which they enroll.
///
/// A store guarantees:
///
/// - A ticket is accepted until its time, and a single-use ticket once, also by several relays at the same time.
/// - A token belongs to one installation of an app, the one whose registration was stored last. The times of the
///   registrations do not count, because clocks differ between relays and can be set back.
/// - An unregistered token that ``OutboxStore/settle(_:at:)`` reports is removed, unless it was registered after the
///   acceptance of the push; a token that was registered since is not recorded as unregistered. Neither Apple's time
///   nor those of the relays count.
/// - Registering a token deletes the records that it is unregistered.
/// - An imported installation takes no token from one whose app has enrolled, and is removed when other installations
///   have taken all of its tokens.
///
/// Times are milliseconds since 1970. Methods can be called concurrently. Texts may not contain control characters.
package protocol InstallationStore: Sendable {
    /// Stores a ticket, and deletes some that have expired.
    ///
    /// - Parameters:
    ///   - ticket: The ticket.
    ///   - now: The time.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func add(_ ticket: EnrollmentTicket, at now: Int64) async throws(OutboxError)

    /// Returns the ticket with a hash; nil for an unknown, used or expired one.
    func ticket(_ hash: [UInt8], at now: Int64) async throws(OutboxError) -> EnrollmentTicket?

    /// Stores an installation that enrolls, with its tokens, and uses its ticket.
    ///
    /// Removes the installation that it replaces, and those of the user that were seen least recently if there are
    /// more than ``Installation/limitPerUser``.
    ///
    /// - Parameters:
    ///   - enrollment: The enrollment.
    ///   - now: The time.
    /// - Returns: Whether the ticket is valid; otherwise nothing has changed.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool

    /// Stores a page of installations that a back end imports, without secrets.
    ///
    /// All are decided before one of them is stored. Importing an installation again replaces its content, also its
    /// user. A token that is registered by an enrolled app or unregistered is left out, and so is an installation all
    /// of whose tokens are. An installation is not stored either when it would be one too many of its user; those of
    /// the page that leave the user do not make room.
    ///
    /// - Parameters:
    ///   - page: The installations, whose times are `now`. Each has at least one token, and no other of the page has
    ///     one of its tokens or its identifier.
    ///   - app: The app of all of them.
    ///   - now: The time.
    /// - Returns: The result of each.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func importPage(
        _ page: [Installation],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) -> [ImportResult]

    /// Returns the installation with an identifier; nil for an unknown one.
    func installation(_ id: InstallationID, of app: String) async throws(OutboxError) -> StoredInstallation?

    /// Returns the installation whose secret has a hash; nil for an unknown secret.
    func installation(withSecret hash: [UInt8]) async throws(OutboxError) -> StoredInstallation?

    /// Returns installations in the order of their enrollment.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - selection: The condition that they meet.
    ///   - cursor: Only installations after this ``StoredInstallation/number``; 0 for all.
    ///   - limit: The maximum number of installations.
    /// - Returns: The installations.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation]

    /// Returns the installations of audiences.
    ///
    /// They are read at once, because a user has few: see ``Installation/limitPerUser``, and ``allMembers(of:in:_:)``
    /// for many users.
    ///
    /// - Parameters:
    ///   - queries: The audiences, each with the slot of the token that a push needs.
    ///   - app: The app.
    /// - Returns: The installations of each audience in the order of their enrollment, also those without a token in
    ///   the slot.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]]

    /// Returns a page of the installations that match an expression.
    ///
    /// It may have no installation although others follow: only a page without a next one is the last.
    ///
    /// - Parameters:
    ///   - scan: The expression, and the installations from which on and up to which it is compared.
    ///   - limit: The maximum number of installations that are examined, so that other calls need not wait for long.
    /// - Returns: The page.
    /// - Throws: ``OutboxError`` when it cannot be read.
    func audiencePage(of scan: AudienceScan, limit: Int) async throws(OutboxError) -> AudiencePage

    /// Replaces the content of an installation, unless it has changed or was removed since it was read.
    ///
    /// - Parameters:
    ///   - stored: The installation as it was read.
    ///   - new: The new content, with the same identifier, app and user.
    /// - Returns: Whether it was replaced.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool

    /// Removes an installation with its tokens, activities and tags.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - app: The app.
    /// - Returns: Whether it existed.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func remove(_ id: InstallationID, of app: String) async throws(OutboxError) -> Bool

    /// Removes all installations and tickets of a user, and the counts of alerts.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - app: The app.
    /// - Returns: The number of installations.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int
}

/// A condition for installations.
package enum InstallationSelection: Sendable, Hashable {
    case all
    case user(String)
    case tag(String)
}

extension InstallationStore {
    /// The sum of ``Installation/byteCount`` after which a page ends.
    private static var pageBytes: Int { 1 << 20 }
    /// The number of installations that are read at once, so that other calls need not wait for long.
    private static var step: Int { 10 }

    /// Returns the installations of any number of audiences, as ``members(of:in:)``.
    ///
    /// Those of many users are read in steps, because a store reads and writes on one thread; after each step
    /// `continued` is called.
    package func allMembers(
        of queries: [AudienceQuery],
        in app: String,
        _ continued: () async -> Void
    ) async throws(OutboxError) -> [[AudienceMember]] {
        var found: [[AudienceMember]] = []
        while found.count < queries.count {
            var users = 0
            let step = queries[found.count...].prefix { query in
                users += query.audience.count
                return users == query.audience.count || users <= Installation.usersPerStep
            }
            found += try await members(of: Array(step), in: app)
            await continued()
        }
        return found
    }

    /// Returns a page of installations, as ``installations(of:_:after:limit:)``, which ends earlier when it is large.
    ///
    /// It is read in steps, because a store reads and writes on one thread. No further installations follow an empty
    /// page.
    package func page(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation] {
        var page: [StoredInstallation] = []
        var bytes = 0
        while page.count < limit, bytes < Self.pageBytes {
            let step = min(limit - page.count, Self.step)
            let found = try await installations(of: app, selection, after: page.last?.number ?? cursor, limit: step)
            page += found
            bytes += found.reduce(0) { $0 + $1.installation.byteCount }
            if found.count < step { break }
        }
        return page
    }
}

extension Installation {
    /// The maximum number of installations of a user in an app.
    package static let limitPerUser = 20
    /// The number of users whose installations are read at once, in a few milliseconds, so that other calls need not
    /// wait for long.
    package static let usersPerStep = 100
}
