// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The numbers of a relay in one lane, which are added up over the relays that share an outbox.
struct LaneCounts: Sendable, Hashable {
    var inFlight = 0
    var connections = 0
    /// The number of pushes per second.
    var rate = 0.0
    /// The number of pushes per second that Apple accepted.
    var deliveredRate = 0.0
    /// The number of attempts in the last minute, and of those that Apple did not accept.
    var recentAttempts = 0
    var recentFailures = 0
    /// The number of attempts to send a push since the relay was started.
    var sent = 0
    /// The number of outcomes since the relay was started.
    var outcomes: [Outcome.State: Int] = [:]
    /// The number of attempts that Apple did not accept, by reason, since the relay was started.
    var failures: [String: Int] = [:]

    /// The maximum number of reasons that are read from another relay, and the maximum length of one.
    private static let reasonLimit = 60
    private static let reasonLength = 40

    init() {}

    /// Reads the data of another relay; missing values are 0.
    init(_ json: JSONValue) {
        // Limited, so that sums over relays cannot overflow, whatever the database contains.
        func count(_ value: JSONValue?) -> Int { Int(min(max(0, value?.integerValue ?? 0), 1 << 53)) }
        func whole(_ name: String) -> Int { count(json[name]) }
        inFlight = whole("in-flight")
        connections = whole("connections")
        if case .number(let number)? = json["sent-per-second"] { rate = number.doubleValue }
        if case .number(let number)? = json["delivered-per-second"] { deliveredRate = number.doubleValue }
        recentAttempts = whole("recent-attempts")
        recentFailures = whole("recent-failures")
        sent = whole("sent")
        for state in Outcome.State.allCases {
            outcomes[state] = count(json["outcomes"]?[state.rawValue])
        }
        for member in (json["failures"]?.members ?? []).prefix(LaneCounts.reasonLimit)
        where member.name.count <= LaneCounts.reasonLength {
            failures[member.name] = count(member.value)
        }
    }

    /// The totals since the start, without the current activity.
    var done: LaneCounts {
        var done = LaneCounts()
        done.sent = sent
        done.outcomes = outcomes
        done.failures = failures
        return done
    }

    var members: [JSONValue.Member] {
        let members: [JSONValue.Member?] = [
            .init("in-flight", .whole(inFlight)), .init("connections", .whole(connections)),
            // To a tenth, which a sum over relays is not.
            JSONNumber((rate * 10).rounded() / 10).map { .init("sent-per-second", .number($0)) },
            JSONNumber((deliveredRate * 10).rounded() / 10).map { .init("delivered-per-second", .number($0)) },
            .init("recent-attempts", .whole(recentAttempts)), .init("recent-failures", .whole(recentFailures)),
            .init("sent", .whole(sent)),
            .init("outcomes", outcomeMembers),
            .init("failures", .object(reasons.map { .init($0.name, .whole($0.count)) })),
        ]
        return members.compactMap(\.self)
    }

    /// The number of outcomes by state, also of those that have not occurred.
    var outcomeMembers: JSONValue {
        .object(Outcome.State.allCases.map { .init($0.rawValue, .whole(outcomes[$0, default: 0])) })
    }

    /// The reasons of failures with their numbers, most frequent first.
    private var reasons: [(name: String, count: Int)] {
        failures.map { (name: $0.key, count: $0.value) }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    static func + (left: LaneCounts, right: LaneCounts) -> LaneCounts {
        var sum = left
        sum.inFlight += right.inFlight
        sum.connections += right.connections
        sum.rate += right.rate
        sum.deliveredRate += right.deliveredRate
        sum.recentAttempts += right.recentAttempts
        sum.recentFailures += right.recentFailures
        sum.sent += right.sent
        sum.outcomes.merge(right.outcomes, uniquingKeysWith: +)
        sum.failures.merge(right.failures, uniquingKeysWith: +)
        return sum
    }
}
