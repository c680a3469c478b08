// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The numbers of pushes that were submitted since the start, by app, and of those that were not stored, by caller.
///
/// ``RelayMetrics`` describes each number.
struct IntakeCounts: Sendable {
    private(set) var accepted: [String: Int] = [:]
    private(set) var duplicates: [String: Int] = [:]
    private(set) var conflicts: [String: Int] = [:]
    private(set) var suppressed: [String: Int] = [:]
    private var shedByCaller = CallerCounter()
    private var unstoredByCaller = CallerCounter()
    /// The pushes that are refused because of the limit of the outbox.
    private(set) var fullQueue = FullQueue()

    var shed: Int { shedByCaller.total }
    var notStored: Int { unstoredByCaller.total }

    /// Returns the number of pushes of a caller that were refused because of overload or the limit of the outbox.
    func shed(of caller: String) -> Int { shedByCaller.count(of: caller) }

    /// Returns the number of pushes of a caller that were refused because the disk or the database failed.
    func notStored(of caller: String) -> Int { unstoredByCaller.count(of: caller) }

    mutating func answered(_ answer: Result<Acceptance, OutboxError>, _ app: String) {
        switch answer {
        case .success(.accepted), .success(.superseding): accepted[app, default: 0] += 1
        case .success(.duplicate): duplicates[app, default: 0] += 1
        case .success(.conflict): conflicts[app, default: 0] += 1
        case .success(.suppressed): suppressed[app, default: 0] += 1
        case .success(.formerUser), .success(.limited), .success(.full), .success(.vanished), .success(.contested),
            .failure:
            break
        }
    }

    /// Counts the pushes of a request that the outbox has not stored.
    mutating func answered(
        _ result: Result<ArraySlice<Acceptance>, OutboxError>,
        to count: Int,
        from caller: String,
        at now: Int64
    ) {
        switch result {
        case .success(let answers):
            let refused = answers.count { $0 == .full }
            shedByCaller.add(refused, for: caller)
            fullQueue.refuse(refused, from: caller, at: now)
        case .failure: unstoredByCaller.add(count, for: caller)
        }
    }

    /// Counts pushes of a caller that were refused before they were checked.
    mutating func refused(_ count: Int, from caller: String, _ refusal: LoadGate.Refusal, at now: Int64) {
        if refusal == .outboxIsFull { fullQueue.refuse(count, from: caller, at: now) }
        switch refusal {
        case .storeDoesNotAnswer: unstoredByCaller.add(count, for: caller)
        case .outboxIsFull, .tooManyIncoming: shedByCaller.add(count, for: caller)
        }
    }

    /// Adds the counts of callers that are not configured any more to those of ``CallerCounter/other``.
    mutating func forgetCallers(except names: Set<String>) {
        shedByCaller.forget(except: names)
        unstoredByCaller.forget(except: names)
    }
}
