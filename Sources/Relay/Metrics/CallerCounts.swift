/// The requests of each caller since the start.
///
/// Names come from the configuration alone, so a metric with one of them as its label stays short.
struct CallerCounts {
    /// The end of a request, by its status.
    enum Outcome: String, CaseIterable {
        /// Below 400.
        case ok
        /// 400 to 499: the request, its credentials or the push were refused.
        case rejected
        /// 500 and above: the relay or Apple could not serve it.
        case failed

        init(status: Int) {
            self = status < 400 ? .ok : status < 500 ? .rejected : .failed
        }
    }

    /// The name for clients that are no caller, and for callers that are not configured any more.
    static let other = "other"

    private var requests: [String: [Outcome: Int]] = [:]
    private var shed: [String: Int] = [:]

    /// Counts a request that was answered.
    mutating func answered(_ caller: String, status: Int) {
        requests[caller, default: [:]][Outcome(status: status), default: 0] += 1
    }

    /// Counts pushes that were refused because too much comes in.
    mutating func shed(_ count: Int, by caller: String) {
        shed[caller, default: 0] += count
    }

    /// The number of requests of a caller with an outcome.
    func requests(of caller: String, _ outcome: Outcome) -> Int { requests[caller]?[outcome] ?? 0 }

    /// The number of pushes of a caller that were refused because too much comes in.
    func shed(of caller: String) -> Int { shed[caller] ?? 0 }

    /// Adds the counts of callers that are not configured any more to those of ``other``.
    mutating func forgetAll(but names: Set<String>) {
        for name in requests.keys where !names.contains(name) && name != CallerCounts.other {
            let former = requests.removeValue(forKey: name) ?? [:]
            requests[CallerCounts.other, default: [:]].merge(former, uniquingKeysWith: +)
        }
        for name in shed.keys where !names.contains(name) && name != CallerCounts.other {
            shed[CallerCounts.other, default: 0] += shed.removeValue(forKey: name) ?? 0
        }
    }
}
