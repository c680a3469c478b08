/// The number of requests of each caller since the start.
///
/// Only names from the configuration are used, so a metric with the name as a label has a bounded size.
struct CallerCounts {
    /// The outcome of a request, by its status.
    enum Outcome: String, CaseIterable {
        /// Below 400.
        case ok
        /// 400 to 499: the request, its credentials or the push was refused.
        case rejected
        /// 500 and above: the relay or Apple could not process it.
        case failed

        init(status: Int) {
            self = status < 400 ? .ok : status < 500 ? .rejected : .failed
        }
    }

    /// The name for unknown clients, and for callers that are not configured any more.
    static let other = "other"

    private var requests: [String: [Outcome: Int]] = [:]
    private var shed: [String: Int] = [:]
    private var unstored: [String: Int] = [:]

    /// Counts a request that was answered.
    mutating func answered(_ caller: String, status: Int) {
        requests[caller, default: [:]][Outcome(status: status), default: 0] += 1
    }

    /// Counts pushes that were refused because of overload or the limit of the outbox.
    mutating func shed(_ count: Int, by caller: String) {
        shed[caller, default: 0] += count
    }

    /// Counts pushes that were refused because the disk or the database failed.
    mutating func notStored(_ count: Int, by caller: String) {
        unstored[caller, default: 0] += count
    }

    /// Returns the number of requests of a caller with an outcome.
    func requests(of caller: String, _ outcome: Outcome) -> Int { requests[caller]?[outcome] ?? 0 }

    /// Returns the number of pushes of a caller that were refused because of overload or the limit of the outbox.
    func shed(of caller: String) -> Int { shed[caller] ?? 0 }

    /// Returns the number of pushes of a caller that were refused because the disk or the database failed.
    func notStored(of caller: String) -> Int { unstored[caller] ?? 0 }

    /// Adds the counts of callers that are not configured any more to those of ``other``.
    mutating func forgetAll(but names: Set<String>) {
        for name in requests.keys where !names.contains(name) && name != CallerCounts.other {
            let former = requests.removeValue(forKey: name) ?? [:]
            requests[CallerCounts.other, default: [:]].merge(former, uniquingKeysWith: +)
        }
        for name in shed.keys where !names.contains(name) && name != CallerCounts.other {
            shed[CallerCounts.other, default: 0] += shed.removeValue(forKey: name) ?? 0
        }
        for name in unstored.keys where !names.contains(name) && name != CallerCounts.other {
            unstored[CallerCounts.other, default: 0] += unstored.removeValue(forKey: name) ?? 0
        }
    }
}
