internal import MartletCore

/// The reason JSON is not a valid fault.
struct FaultError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Fault {
    private static let names = [
        "do", "match", "probability", "count", "after", "every", "reason", "status", "retry-after", "seconds", "jitter",
        "code", "debug-data", "includes-request", "limit",
    ]

    /// Creates a fault from JSON of the HTTP interface: `do` names the action, and the other members are its parameters
    /// and the conditions, as in `{"do": "respond", "reason": "ServiceUnavailable", "every": 5}`.
    init(json: JSONValue) throws(FaultError) {
        guard let members = json.members else { throw FaultError("a fault must be a JSON object") }
        if let unknown = members.first(where: { !Fault.names.contains($0.name) }) {
            throw FaultError("unknown member \(unknown.name); known: " + Fault.names.joined(separator: ", "))
        }
        self.init(
            try Fault.action(json),
            with: try Match(json: json["match"] ?? [:]),
            probability: try Fault.number("probability", of: json, 0...1) ?? 1,
            count: try Fault.whole("count", of: json),
            after: try Fault.whole("after", of: json) ?? 0,
            every: try Fault.whole("every", of: json) ?? 1
        )
    }

    private static func action(_ json: JSONValue) throws(FaultError) -> Action {
        switch json["do"]?.stringValue {
        case "respond":
            guard let reason = json["reason"]?.stringValue else {
                throw FaultError("reason is missing: respond needs one")
            }
            let status = try whole("status", of: json)
            if let status, !(200...599).contains(status) {
                throw FaultError("status must be a number from 200 to 599 (found \(status))")
            }
            guard status != nil || Reason(rawValue: reason).status != nil else {
                throw FaultError("status is missing: Apple documents no status for the reason \"\(reason.prefix(60))\"")
            }
            return .respond(
                Reason(rawValue: reason),
                status: status,
                retryAfter: try whole("retry-after", of: json)
            )
        case "delay":
            let range = 0...Double(Fault.longestDelay.components.seconds)
            let jitter = try number("jitter", of: json, range) ?? 0
            return .delay(try seconds(json, range), jitter: .milliseconds(Int64(jitter * 1_000)))
        case "hang": return .hang
        case "reset-stream": return .resetStream(code: UInt32(clamping: try whole("code", of: json) ?? 7))
        case "goaway":
            var includesRequest = true
            switch json["includes-request"] {
            case nil: break
            case .bool(let value)?: includesRequest = value
            default: throw FaultError("includes-request must be true or false")
            }
            return .goAway(
                code: UInt32(clamping: try whole("code", of: json) ?? 0),
                debugData: json["debug-data"]?.stringValue ?? "",
                includesRequest: includesRequest
            )
        case "drain": return .drain(debugData: json["debug-data"]?.stringValue ?? "")
        case "close": return .close
        case "reset-connection": return .resetConnection
        case "refuse-connections": return .refuseConnections(try limit(json))
        case "limit-streams": return .limitStreams(UInt32(clamping: try limit(json)))
        case "limit-window": return .limitWindow(UInt32(clamping: try limit(json)))
        case "limit-errors": return .limitErrors(max(1, try limit(json)))
        case "throttle": return .throttle(perDevice: try limit(json))
        case "skew-clock": return .skewClock(try seconds(json, -1e8...1e8))
        default:
            throw FaultError(
                "do must be one of respond, delay, hang, reset-stream, goaway, drain, close, reset-connection, "
                    + "refuse-connections, limit-streams, limit-window, limit-errors, throttle, skew-clock"
            )
        }
    }

    private static func seconds(_ json: JSONValue, _ range: ClosedRange<Double>) throws(FaultError) -> Duration {
        guard let seconds = try number("seconds", of: json, range) else { throw FaultError("seconds is missing") }
        return .milliseconds(Int64(seconds * 1_000))
    }

    private static func limit(_ json: JSONValue) throws(FaultError) -> Int {
        guard let limit = try whole("limit", of: json) else { throw FaultError("limit is missing") }
        guard limit <= 1_000_000 else { throw FaultError("limit must be at most 1000000 (found \(limit))") }
        return limit
    }

    private static func whole(_ name: String, of json: JSONValue) throws(FaultError) -> Int? {
        guard let value = json[name] else { return nil }
        guard let number = value.integerValue, number >= 0, let whole = Int(exactly: number) else {
            throw FaultError("\(name) must be a whole number of at least 0")
        }
        return whole
    }

    private static func number(
        _ name: String,
        of json: JSONValue,
        _ range: ClosedRange<Double>
    ) throws(FaultError) -> Double? {
        guard let value = json[name] else { return nil }
        guard case .number(let number) = value, range.contains(number.doubleValue) else {
            throw FaultError("\(name) must be a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return number.doubleValue
    }
}

extension Fault.Match {
    fileprivate init(json: JSONValue) throws(FaultError) {
        guard let members = json.members else { throw FaultError("match must be an object") }
        self.init()
        for member in members {
            guard let text = member.value.stringValue else { throw FaultError("match.\(member.name) must be a string") }
            switch member.name {
            case "topic": topic = text
            case "push-type": pushType = text
            case "priority": priority = text
            case "device-prefix": devicePrefix = text
            case "device-suffix": deviceSuffix = text
            default:
                throw FaultError(
                    "unknown member match.\(member.name); known: topic, push-type, priority, device-prefix, "
                        + "device-suffix"
                )
            }
        }
    }

    fileprivate var json: JSONValue {
        let all = [
            ("topic", topic), ("push-type", pushType), ("priority", priority), ("device-prefix", devicePrefix),
            ("device-suffix", deviceSuffix),
        ]
        return .object(all.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } })
    }
}

extension Fault {
    /// The fault in the form that ``init(json:)`` takes, without the members that have their default values.
    var json: JSONValue {
        var members = action.members
        if match != Match() { members.append(.init("match", match.json)) }
        if probability != 1 { members.append(.init("probability", .number(probability))) }
        if let count { members.append(.init("count", .number(JSONNumber(count)))) }
        if after != 0 { members.append(.init("after", .number(JSONNumber(after)))) }
        if every != 1 { members.append(.init("every", .number(JSONNumber(every)))) }
        return .object(members)
    }
}

extension Fault.Action {
    /// The name of the action in JSON.
    var name: String {
        switch self {
        case .respond: "respond"
        case .delay: "delay"
        case .hang: "hang"
        case .resetStream: "reset-stream"
        case .goAway: "goaway"
        case .drain: "drain"
        case .close: "close"
        case .resetConnection: "reset-connection"
        case .refuseConnections: "refuse-connections"
        case .limitStreams: "limit-streams"
        case .limitWindow: "limit-window"
        case .limitErrors: "limit-errors"
        case .throttle: "throttle"
        case .skewClock: "skew-clock"
        }
    }

    fileprivate var members: [JSONValue.Member] { [.init("do", .string(name))] + parts }

    private var parts: [JSONValue.Member] {
        switch self {
        case .respond(let reason, let status, let retryAfter):
            [.init("reason", .string(reason.rawValue))]
                + [("status", status), ("retry-after", retryAfter)].compactMap { name, value in
                    value.map { .init(name, .number(JSONNumber($0))) }
                }
        case .delay(let duration, let jitter):
            [seconds(duration)]
                + (jitter == .zero ? [] : [.init("jitter", .number(jitter / .seconds(1)))])
        case .resetStream(let code): [.init("code", .number(JSONNumber(Int(code))))]
        case .goAway(let code, let debugData, let includesRequest):
            [.init("code", .number(JSONNumber(Int(code))))]
                + (debugData.isEmpty ? [] : [.init("debug-data", .string(debugData))])
                + (includesRequest ? [] : [.init("includes-request", false)])
        case .drain(let debugData): debugData.isEmpty ? [] : [.init("debug-data", .string(debugData))]
        case .hang, .close, .resetConnection: []
        case .refuseConnections(let count), .limitErrors(let count), .throttle(let count): [limit(count)]
        case .limitStreams(let count), .limitWindow(let count): [limit(Int(count))]
        case .skewClock(let duration): [seconds(duration)]
        }
    }

    private func seconds(_ duration: Duration) -> JSONValue.Member {
        .init("seconds", .number(duration / .seconds(1)))
    }

    private func limit(_ count: Int) -> JSONValue.Member { .init("limit", .number(JSONNumber(count))) }
}

extension JSONValue {
    /// Returns a JSON number; 0 for a value that JSON cannot represent.
    fileprivate static func number(_ value: Double) -> JSONValue { .number(JSONNumber(value) ?? JSONNumber(0)) }
}
