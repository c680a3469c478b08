// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The activity of a relay in one lane, which is added up over the relays that share an outbox.
struct LaneFacts: Sendable, Hashable {
    var inFlight = 0
    var connections = 0
    /// The number of pushes per second.
    var rate = 0.0
    /// The number of attempts to send a push since the relay was started.
    var sent = 0
    /// The number of outcomes since the relay was started.
    var outcomes: [Outcome.State: Int] = [:]

    init() {}

    /// Reads the data of another relay; missing values are 0.
    init(_ json: JSONValue) {
        // Limited, so that sums over relays cannot overflow, whatever the database contains.
        func count(_ value: JSONValue?) -> Int { Int(min(max(0, value?.integerValue ?? 0), 1 << 53)) }
        func whole(_ name: String) -> Int { count(json[name]) }
        inFlight = whole("in-flight")
        connections = whole("connections")
        if case .number(let number)? = json["sent-per-second"] { rate = number.doubleValue }
        sent = whole("sent")
        for state in Outcome.State.allCases {
            outcomes[state] = count(json["outcomes"]?[state.rawValue])
        }
    }

    /// The totals since the start, without the current activity.
    var done: LaneFacts {
        var done = LaneFacts()
        done.sent = sent
        done.outcomes = outcomes
        return done
    }

    var members: [JSONValue.Member] {
        let members: [JSONValue.Member?] = [
            .init("in-flight", .whole(inFlight)), .init("connections", .whole(connections)),
            // To a tenth, which a sum over relays is not.
            JSONNumber((rate * 10).rounded() / 10).map { .init("sent-per-second", .number($0)) },
            .init("sent", .whole(sent)),
            .init(
                "outcomes",
                .object(Outcome.State.allCases.map { .init($0.rawValue, .whole(outcomes[$0, default: 0])) })
            ),
        ]
        return members.compactMap(\.self)
    }

    static func + (left: LaneFacts, right: LaneFacts) -> LaneFacts {
        var sum = left
        sum.inFlight += right.inFlight
        sum.connections += right.connections
        sum.rate += right.rate
        sum.sent += right.sent
        sum.outcomes.merge(right.outcomes, uniquingKeysWith: +)
        return sum
    }
}
