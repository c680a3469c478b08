internal import APNs
internal import Outbox

/// What one relay has done in one lane since it was started, and does: added up over the relays that share an outbox.
struct LaneFacts: Sendable, Hashable {
    /// Pushes that were sent and not answered yet.
    var inFlight = 0
    /// Connections to Apple.
    var connections = 0
    /// Pushes a second.
    var rate = 0.0
    /// Tries to send.
    var sent = 0
    /// How pushes ended.
    var outcomes: [Outcome.State: Int] = [:]

    init() {}

    /// Reads what another relay tells; what it leaves out is 0.
    init(_ json: JSONValue) {
        // Bounded, so that adding up the facts of relays cannot overflow whatever the database holds.
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

    /// What was done, without what is being done.
    var done: LaneFacts {
        var done = LaneFacts()
        done.sent = sent
        done.outcomes = outcomes
        return done
    }

    /// What is told of it.
    var members: [JSONValue.Member] {
        let members: [JSONValue.Member?] = [
            .init("in-flight", .whole(inFlight)), .init("connections", .whole(connections)),
            JSONNumber(rate).map { .init("sent-per-second", .number($0)) }, .init("sent", .whole(sent)),
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
