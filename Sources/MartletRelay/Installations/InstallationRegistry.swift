// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that enrolls apps on phones and changes their installations.
actor InstallationRegistry {
    /// The number of credentials that are looked up at the same time; phones may have any number of requests.
    private static let lookupLimit = 200
    /// The number of tickets of an app that are stored at the same time.
    ///
    /// The store commits each by itself, and all other calls wait for the commits before theirs.
    private static let ticketLimit = 4
    /// The number of times that a change is repeated because another one came first.
    private static let attempts = 5
    /// The maximum number of changes of one installation that wait for another one.
    private static let changeLimit = 20

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let context: RelayContext
    private var store: any InstallationStore { context.outbox.installations }
    private var budget = RequestBudget()
    private var lookups = 0
    /// The tickets that are being stored.
    private var tickets = CallSlots<CheckedContinuation<Void, Never>>(limit: InstallationRegistry.ticketLimit)
    /// The changes that wait for the one under way, for each installation that is being changed.
    private var waitingChanges: [InstallationID: [CheckedContinuation<Void, Never>]] = [:]
    private var generator = SystemRandomNumberGenerator()

    /// Creates a registry over the outbox of a relay.
    init(_ context: RelayContext) {
        loop = context.loop
        self.context = context
    }

    // MARK: Tickets

    /// Stores a ticket for a user, and returns it with its text, which is not stored.
    func issueTicket(
        _ request: TicketRequest,
        of app: String
    ) async throws(InstallationError) -> (text: String, ticket: EnrollmentTicket) {
        let (secret, now) = (RandomSecret(.ticket), context.now)
        let ticket = EnrollmentTicket(
            hash: try secret.hash,
            app: app,
            user: request.user,
            tags: request.tags,
            isSingleUse: request.isSingleUse,
            expiresAt: now.addingReportingOverflow(request.seconds * 1_000).partialValue
        )
        await beginTicket(of: app)
        defer { tickets.end(of: app)?.resume() }
        let store = store
        do throws(InstallationError) {
            try await storeChange(await store.add(ticket, at: now), by: .backEnd)
        } catch {
            // While the store does not answer, each waiting call would fail only after those before it.
            for waiter in tickets.beginWaiting(of: app) { waiter.resume() }
            throw error
        }
        return (secret.text, ticket)
    }

    private func beginTicket(of app: String) async {
        guard !tickets.begin(of: app) else { return }
        await withCheckedContinuation { tickets.wait($0, of: app) }
    }

    /// Returns the ticket that an `authorization` field has.
    func ticket(_ authorization: String?) async throws(InstallationError) -> EnrollmentTicket {
        guard let secret = RandomSecret(authorization: authorization, .ticket) else { throw Self.invalidTicket }
        let (hash, now) = (try secret.hash, context.now)
        try beginLookup()
        defer { lookups -= 1 }
        let store = store
        guard let ticket = try await storeRead(await store.ticket(hash, at: now)) else {
            throw Self.invalidTicket
        }
        try spend(hash)
        return ticket
    }

    /// Stores an installation with the user and the tags of a ticket, and returns it with its secret.
    func enroll(
        with ticket: EnrollmentTicket,
        _ change: InstallationChange,
        in environment: PushEnvironment,
        _ bundleID: String,
        replacing replaced: RandomSecret?
    ) async throws(InstallationError) -> (installation: Installation, secret: String) {
        let (secret, now) = (RandomSecret(.installation), context.now)
        var installation = Installation(
            id: InstallationID(milliseconds: now, using: &generator),
            app: ticket.app,
            user: ticket.user,
            environment: environment,
            bundleID: bundleID,
            at: now
        )
        installation.tags = ticket.tags
        try InstallationReader.apply(change, to: &installation, at: now, by: .app)
        let enrollment = Enrollment(
            ticketHash: ticket.hash,
            installation: installation,
            secretHash: try secret.hash,
            replacedSecretHash: try replaced?.hash
        )
        let store = store
        guard try await storeChange(await store.enroll(enrollment, at: now)) else { throw Self.invalidTicket }
        return (installation, secret.text)
    }

    // MARK: Installations

    /// Returns the installation whose secret an `authorization` field has.
    func installation(_ authorization: String?) async throws(InstallationError) -> StoredInstallation {
        guard let secret = RandomSecret(authorization: authorization, .installation) else { throw Self.invalidSecret }
        let hash = try secret.hash
        try beginLookup()
        defer { lookups -= 1 }
        let store = store
        guard let stored = try await storeRead(await store.installation(withSecret: hash)) else {
            throw Self.invalidSecret
        }
        try spend(hash)
        return stored
    }

    /// Returns the surfaces in whose audience an installation was when it was considered last, the latest change first.
    func surfaces(on stored: StoredInstallation, limit: Int) async throws(InstallationError) -> [StoredSurface] {
        let surfaces = context.outbox.surfaces
        return try await storeRead(await surfaces.surfaces(on: stored.number, limit: limit))
    }

    /// Removes the installation whose secret an `authorization` field has.
    func remove(_ authorization: String?) async throws(InstallationError) {
        let stored = try await installation(authorization).installation
        let store = store
        _ = try await storeChange(await store.remove(stored.id, of: stored.app))
    }

    /// Changes an installation, and returns it as it is stored; nil if it was removed meanwhile.
    ///
    /// Changes of one installation wait for each other, so that only a change by another relay is a conflict.
    func change(
        _ stored: StoredInstallation,
        _ change: InstallationChange,
        by author: InstallationChange.Author
    ) async throws(InstallationError) -> Installation? {
        var stored = stored
        let store = store
        let (id, app) = (stored.installation.id, stored.installation.app)
        let hasWaited = try await beginChange(of: id)
        defer { endChange(of: id) }
        if hasWaited {
            guard let current = try await storeRead(await store.installation(id, of: app), by: author) else {
                return nil
            }
            stored = current
        }
        for _ in 0..<Self.attempts {
            var changed = stored.installation
            try InstallationReader.apply(change, to: &changed, at: context.now, by: author)
            let (old, new) = (stored, changed)
            let isStored =
                try await new == old.installation
                ? true : storeChange(await store.replace(old, with: new), by: author)
            // Read back even without a change, because another installation may have taken a token since this one was
            // read.
            guard let current = try await storeRead(await store.installation(id, of: app), by: author) else {
                return nil
            }
            guard !isStored else { return current.installation }
            stored = current
        }
        throw InstallationError(
            .unavailable,
            "the installation is being changed by other requests: try again",
            retryAfter: 1
        )
    }

    // MARK: Errors

    /// Returns the result of a call to the outbox.
    ///
    /// An app on a phone gets no text of the error, which is logged, because it describes the relay's machines.
    private func storeCall<Value>(
        _ body: @autoclosure () async throws(OutboxError) -> Value,
        by author: InstallationChange.Author = .app
    ) async throws(InstallationError) -> Value {
        do throws(OutboxError) {
            return try await body()
        } catch {
            guard author == .app else {
                let isOutcomeUnknown = error.remedy != nil
                throw InstallationError(.unavailable, "\(error)", retryAfter: 5, isOutcomeUnknown: isOutcomeUnknown)
            }
            context.logPhoneError(error)
            throw InstallationError(
                .unavailable,
                "the relay cannot use its store at the moment: try again later",
                retryAfter: 5
            )
        }
    }

    /// Returns the result of one read of the outbox, as ``storeCall(_:by:)`` does.
    private func storeRead<Value: Sendable>(
        _ body: @autoclosure @escaping @Sendable () async throws(OutboxError) -> Value,
        by author: InstallationChange.Author = .app
    ) async throws(InstallationError) -> Value {
        try await storeCall(await context.read(body).get(), by: author)
    }

    /// Returns the result of one change of the outbox, as ``storeCall(_:by:)`` does.
    private func storeChange<Value: Sendable>(
        _ body: @autoclosure @escaping @Sendable () async throws(OutboxError) -> Value,
        by author: InstallationChange.Author = .app
    ) async throws(InstallationError) -> Value {
        let remedy = "GET /v1/apps/{app}/installations shows the installations, and the request can be repeated"
        return try await storeCall(await context.change(remedy: remedy, body), by: author)
    }

    // MARK: Limits

    /// Waits until no other change of an installation is under way; returns whether there was one.
    private func beginChange(of id: InstallationID) async throws(InstallationError) -> Bool {
        guard let waiting = waitingChanges[id] else {
            waitingChanges[id] = []
            return false
        }
        guard waiting.count < Self.changeLimit else {
            throw InstallationError(
                .tooManyRequests,
                "too many changes of this installation wait: send one after the other",
                retryAfter: 1
            )
        }
        await withCheckedContinuation { waitingChanges[id]?.append($0) }
        return true
    }

    /// Starts the next change of an installation.
    private func endChange(of id: InstallationID) {
        guard var waiting = waitingChanges[id], !waiting.isEmpty else {
            waitingChanges[id] = nil
            return
        }
        let next = waiting.removeFirst()
        waitingChanges[id] = waiting
        next.resume()
    }

    private func beginLookup() throws(InstallationError) {
        guard lookups < Self.lookupLimit else {
            throw InstallationError(.unavailable, "too many phones send requests at the same time", retryAfter: 1)
        }
        lookups += 1
    }

    private func spend(_ hash: [UInt8]) throws(InstallationError) {
        guard let delay = budget.take(hash, at: context.now) else { return }
        throw InstallationError(
            .tooManyRequests,
            "a phone may send \(RequestBudget.limit) requests in a minute",
            retryAfter: delay
        )
    }

    /// The same error for every cause, so that nothing can be learned about tickets of others.
    private static let invalidTicket = InstallationError(
        .invalidCredential,
        "authorization must be bearer and a ticket that is neither expired nor used: ask your back end for another one"
    )
    private static let invalidSecret = InstallationError(
        .invalidCredential,
        "authorization must be bearer and the secret of an installation that was not removed: enroll again"
    )
}
