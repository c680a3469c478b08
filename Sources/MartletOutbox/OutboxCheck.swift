// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The result of reading a whole outbox and comparing every push with what was accepted.
///
/// It needs no sealing keys: the checksums are those of the sealed values.
///
/// Installations, tickets, jobs and surfaces have no checksums: they are counted, and SQLite finds damage in the
/// structure of its file. The numbers of pushes that a job has are compared with its pushes, and a session must have
/// its surface and its installation.
package struct OutboxCheck: Sendable, Hashable {
    /// The parts of a stored push that can differ from what was accepted.
    package enum Part: String, Sendable, Hashable {
        /// The lane, the destination, the headers, the expiry, the identifier or the payload.
        case content
        /// The time when the push is due.
        case dueTime = "due-time"
        /// The urgency, which follows from the priority and the job.
        case urgency
        /// The place in the queue: the push neither waits nor is a dead letter, or the queue has another push there.
        case place = "place-in-queue"
    }

    /// A push that differs from what was accepted.
    package struct DamagedPush: Sendable, Hashable {
        /// The number of its row.
        package var number: Int64
        /// The identifier as it is stored, which may be what has changed; nil if it is none.
        package var id: APNsID?
        package var parts: [Part]
    }

    /// The maximum length of ``damagedPushes``.
    private static let maximumListed = 1_000

    /// The step under way, for progress.
    package var step = "reading pushes"
    /// The number of pushes that have not ended.
    package private(set) var waiting = 0
    /// The number of pushes that are kept as dead letters.
    package private(set) var deadLetters = 0
    /// The number of damaged pushes among both.
    package private(set) var damaged = 0
    /// The first 1,000 damaged pushes.
    package private(set) var damagedPushes: [DamagedPush] = []
    package var outcomes = 0
    package var installations = 0
    package var tickets = 0
    package private(set) var jobs = 0
    package private(set) var surfaces = 0
    /// The number of sessions of surfaces on installations.
    package private(set) var sessions = 0
    /// The number of the key that seals the outbox; nil for one that is not sealed.
    package private(set) var sealingKey: Int64?
    /// Whether a sealed outbox may have rows that the next start of a relay seals.
    package private(set) var hasPlainRows = false
    /// The damage that concerns no single push.
    package var problems: [String] = []

    /// The number of pushes that were read.
    package var pushes: Int { waiting + deadLetters }
    /// Whether no damage was found.
    package var isSound: Bool { damaged == 0 && problems.isEmpty }

    /// Creates the result of a check that has read nothing yet.
    package init() {}

    /// Checks an outbox, on the current thread.
    ///
    /// A file is only read, and must not be in use. A database may be in use.
    ///
    /// - Parameters:
    ///   - location: The location of the outbox.
    ///   - progress: A callback after each ten thousand pushes or fewer.
    /// - Returns: The result.
    /// - Throws: ``OutboxError`` if the outbox cannot be read at all, of kind `.inUse` while a relay uses the file.
    package static func run(
        on location: OutboxLocation,
        progress: (OutboxCheck) -> Void = { _ in }
    ) throws(OutboxError) -> OutboxCheck {
        switch location {
        case .file(let path): try OutboxFileCheck(path).run(progress)
        case .database(let address): try OutboxCheck(ofDatabase: address, progress)
        }
    }

    /// Adds the number of the key that seals the outbox, and whether all rows are sealed.
    mutating func add(sealingKey number: Int64, isComplete: Bool) {
        sealingKey = number
        hasPlainRows = !isComplete
    }

    /// Adds jobs, of which some have other counts than their pushes show.
    mutating func add(jobs count: Int, miscounted: Int) {
        jobs += count
        if miscounted > 0 { problems.append("the counts of \(miscounted) jobs differ from their pushes") }
    }

    /// Adds surfaces, and sessions, of which some have no surface or no installation.
    mutating func add(surfaces: Int, sessions: Int, lost: Int) {
        self.surfaces += surfaces
        self.sessions += sessions
        if lost > 0 { problems.append("the number of sessions without a surface or an installation is \(lost)") }
    }

    /// Adds a push that was read.
    mutating func add(_ number: Int64, id: APNsID?, isWaiting: Bool, damage parts: [Part]) {
        if isWaiting { waiting += 1 } else { deadLetters += 1 }
        guard !parts.isEmpty else { return }
        damaged += 1
        guard damagedPushes.count < OutboxCheck.maximumListed else { return }
        damagedPushes.append(DamagedPush(number: number, id: id, parts: parts))
    }
}
