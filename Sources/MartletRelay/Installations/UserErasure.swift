// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The removal of everything that the relay stores about a user of an app.
struct UserErasure {
    /// The number of pushes that one commit removes, so that other calls need not wait for long.
    private static let step = 100
    private static let remedy = "repeat the call, which removes what is left"
    /// The number of jobs that are read at once, with their requests.
    private static let jobStep = 20
    /// The number of requests in SQL about surfaces that one call carries out, and the maximum number of these calls.
    private static let requestStep = 20
    private static let requestCalls = 500

    private let app: String
    private let parts: RelayParts
    private(set) var installations = 0
    private(set) var cancelledPushes = 0
    private(set) var deadLetters = 0

    init(in app: String, _ parts: RelayParts) {
        self.app = app
        self.parts = parts
    }

    /// Cancels the waiting pushes of the user, deletes the dead letters, and removes the installations, the tickets,
    /// the counts of alerts, the user in the audiences of surfaces, and the values in the requests of jobs.
    ///
    /// The installations are removed after the pushes, so that a call that failed can be repeated: pushes that were
    /// accepted before a phone had enrolled are found by its tokens.
    mutating func run(for user: String) async throws(OutboxError) {
        let context = await parts.server.context
        // Before the installations are removed, so that a call that failed here can be repeated.
        try await carryOutRequests(context)
        let (app, store) = (self.app, parts.outbox.installations)
        let found = await context.read { () async throws(OutboxError) -> [StoredInstallation] in
            try await store.installations(of: app, .user(user), after: 0, limit: 1_000)
        }
        let known = try found.get().map(\.installation)
        for selection in PushSelection.all(ofUser: user, with: known) {
            try await erasePushes(selection, context)
        }
        installations = try await context.change(remedy: Self.remedy) { () async throws(OutboxError) -> Int in
            try await store.removeUser(user, of: app)
        }
        // After the installations, because a surface that an installation has is not deleted.
        let (surfaces, ids, now) = (parts.outbox.surfaces, known.map(\.id), parts.now)
        try await context.change(remedy: Self.remedy) { () async throws(OutboxError) in
            try await surfaces.removeUser(user, with: ids, of: app, at: now)
        }
        // Pushes that a relay had claimed are sent or returned meanwhile.
        await parts.dispatcher.waitForHeldPushes()
        // These, and the pushes that were accepted meanwhile. The store accepts none from the removal on, unless the
        // user enrolls again.
        try await erasePushes(.user(user), context)
        try await eraseValues(of: user, context)
        if let file = parts.outbox.localFile {
            try await context.change(remedy: Self.remedy) { () async throws(OutboxError) in
                try await file.discardRemovedContent()
            }
        }
        if deadLetters > 0 { await parts.monitor.readDeadLetters() }
    }

    /// Cancels the pushes of a selection that have not been sent, and deletes the dead letters.
    private mutating func erasePushes(
        _ selection: PushSelection,
        _ context: RelayContext
    ) async throws(OutboxError) {
        var cursor: Int64?
        repeat {
            let (app, parts, end) = (self.app, self.parts, cursor)
            let erased = try await context.change(remedy: Self.remedy) {
                () async throws(OutboxError) -> ErasedPushes in
                let erased = try await parts.outbox.erasePushes(
                    selection,
                    of: app,
                    before: end,
                    limit: Self.step,
                    at: parts.now
                )
                await parts.dispatcher.recordRemoval(of: erased.cancelled)
                return erased
            }
            cancelledPushes += erased.cancelled.count
            deadLetters += erased.deadLetters
            cursor = erased.next
        } while cursor != nil
    }

    /// Carries out the requests in SQL about surfaces of the app that wait: they may name the user.
    private func carryOutRequests(_ context: RelayContext) async throws(OutboxError) {
        let (app, requests) = (self.app, EnqueuedSurfaces(context: context, dispatcher: parts.dispatcher))
        for _ in 0..<Self.requestCalls {
            let mayHaveMore = try await context.change(remedy: Self.remedy) { () async throws(OutboxError) -> Bool in
                try await requests.carryOut(of: app, limit: Self.requestStep)
            }
            guard mayHaveMore else { return }
        }
        throw OutboxError(.unavailable, "too many requests in SQL about surfaces wait: \(Self.remedy)")
    }

    /// Removes the values of the user from the requests of jobs.
    private func eraseValues(of user: String, _ context: RelayContext) async throws(OutboxError) {
        let (app, jobs) = (self.app, parts.outbox.jobs)
        var last: Int64?
        repeat {
            let start = last
            let page = try await context.change(remedy: Self.remedy) { () async throws(OutboxError) -> [StoredJob] in
                let page = try await jobs.jobs(of: app, before: start, limit: Self.jobStep)
                for job in page where !job.isDamaged {
                    guard let request = PersonalValues.request(job.job.request, without: user) else { continue }
                    try await jobs.replaceRequest(of: job, with: request)
                }
                return page
            }
            last = page.count < Self.jobStep ? nil : page.last?.number
        } while last != nil
    }

    /// The numbers for the answer of the API.
    var json: JSONValue {
        [
            "installations": .whole(installations), "cancelled-pushes": .whole(cancelledPushes),
            "dead-letters": .whole(deadLetters),
        ]
    }
}
