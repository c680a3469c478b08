// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The numbers of requests and clients since the start.
struct ServerCounts: Sendable {
    /// The labels of an answer to a caller, each from a short list.
    struct Request: Hashable {
        var route: String
        var method: String
        var status: Int
    }

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

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// The time that callers waited for their answers.
    private(set) var requests: [Request: Histogram] = [:]
    private var outcomes: [Outcome: CallerCounter] = [:]
    /// Clients whose credentials were rejected, without those of known callers.
    var rejectedCallers = 0
    /// Clients whose TLS handshake failed.
    var failedHandshakes = 0
    /// Connections with an unusual provider token, by its deviation from Apple's documentation.
    private(set) var unusualTokens: [ProviderTokenDeviation: Int] = [:]

    func requests(of caller: String, _ outcome: Outcome) -> Int { outcomes[outcome]?.count(of: caller) ?? 0 }

    /// Counts an answered request; the route is the path without identifiers, and the caller nil if none is needed.
    mutating func answered(_ method: String, _ route: String, status: Int, _ time: Duration, by caller: String?) {
        if let caller { outcomes[Outcome(status: status), default: CallerCounter()].add(1, for: caller) }
        let method = ServerCounts.methods.contains(method) ? method : "_OTHER"
        requests[Request(route: route, method: method, status: status), default: .times].observe(time)
    }

    mutating func unusualToken(_ deviations: [ProviderTokenDeviation]) {
        for deviation in deviations { unusualTokens[deviation, default: 0] += 1 }
    }

    /// Adds the counts of callers that are not configured any more to those of ``CallerCounter/other``.
    mutating func forgetCallers(except names: Set<String>) {
        for outcome in Outcome.allCases { outcomes[outcome]?.forget(except: names) }
    }
}
