// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The phones of a user and the last pushes to them, for people: with shortened tokens, without payloads, and bounded.
///
/// The outbox stores the user with a push until it ends, and not with its outcome. The pushes of jobs are found after
/// their end, too, because their identifiers follow from the job and the installation.
struct UserOverview {
    /// The number of the app's latest jobs whose pushes to the user are looked up.
    static let jobLimit = 10
    /// The number of waiting and abandoned pushes after which no others are read.
    static let pushLimit = 100
    /// The maximum number of reads for these pushes, since a user may have many tokens.
    private static let readLimit = 100

    private struct Push {
        var status: PushStatus
        /// The job of the push and the installation that it was sent to; nil for a push that was sent singly.
        var job: (id: APNsID, installation: InstallationID)?
    }

    private let user: String
    private let app: String
    private var installations: [StoredInstallation] = []
    private var pushes: [APNsID: Push] = [:]
    private var isComplete = false

    init(of user: String, _ app: String) {
        self.user = user
        self.app = app
    }

    /// Reads the phones and the pushes.
    mutating func read(from outbox: any OutboxStore) async throws(OutboxError) {
        // A user has a few more than the limit when several phones enroll at the same time.
        let limit = 2 * Installation.limitPerUser
        installations = try await outbox.installations.installations(of: app, .user(user), after: 0, limit: limit)
        try await readUnfinished(from: outbox.records)
        try await findPushesOfJobs(in: outbox)
    }

    /// Reads the pushes that have not ended, and the dead letters, oldest first.
    private mutating func readUnfinished(from records: any OutboxRecords) async throws(OutboxError) {
        var selections = PushSelection.all(ofUser: user, with: installations.map(\.installation))[...]
        var cursor: Int64 = 0
        for _ in 0..<UserOverview.readLimit {
            let room = UserOverview.pushLimit - pushes.count
            guard room > 0, let selection = selections.first else { break }
            let found = try await records.pushes(selection, of: app, after: cursor, limit: room)
            for status in found.pushes { pushes[status.id] = Push(status: status) }
            cursor = found.next ?? 0
            if found.next == nil { selections.removeFirst() }
        }
        isComplete = selections.isEmpty
    }

    /// Looks up the pushes of the latest jobs to the phones.
    private mutating func findPushesOfJobs(in outbox: any OutboxStore) async throws(OutboxError) {
        for stored in try await outbox.jobs.jobs(of: app, before: nil, limit: UserOverview.jobLimit) {
            for phone in installations where phone.number <= stored.highMark {
                let installation = phone.installation.id
                guard let id = JobPageBuilder.id(of: installation, in: stored.job),
                    let status = try await outbox.status(of: id, of: app)
                else { continue }
                pushes[id] = Push(status: status, job: (id: stored.job.id, installation: installation))
            }
        }
    }

    /// The answer of the API, with the pushes that were accepted last first.
    var json: JSONValue {
        let latest = pushes.values.sorted { first, second in
            let (one, other) = (first.status, second.status)
            return (other.acceptedAt, one.id.description) < (one.acceptedAt, other.id.description)
        }
        return [
            "app": .string(app), "user": .string(user),
            "installations": .array(installations.map(\.installation.summary)),
            "pushes": .array(latest.map { UserOverview.json(of: $0) }), "complete": .bool(isComplete),
        ]
    }

    private static func json(of push: Push) -> JSONValue {
        let members = push.status.detailedJSON.members ?? []
        guard let job = push.job else { return .object(members) }
        return .object(
            members + [
                .init("job", .string(job.id.description)),
                .init("installation", .string(job.installation.description)),
            ]
        )
    }
}
