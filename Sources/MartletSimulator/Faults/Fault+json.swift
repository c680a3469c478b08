// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

extension SimulatedAPNs.Fault {
    private static let names = [
        "do", "match", "probability", "count", "after", "every", "reason", "status", "retry-after", "seconds", "jitter",
        "code", "debug-data", "includes-request", "limit",
    ]

    /// Creates a fault from JSON of the HTTP interface: `do` names the action, and the other members are its parameters
    /// and the conditions, as in `{"do": "respond", "reason": "ServiceUnavailable", "every": 5}`.
    init(_ json: APIField) throws(APIProblem) {
        try json.checkMembers(SimulatedAPNs.Fault.names)
        self.init(
            try Action(json),
            with: try json["match"].ifPresent.map { (match) throws(APIProblem) in try Match(match) } ?? Match(),
            probability: try json["probability"].ifPresent?.number(in: 0...1) ?? 1,
            count: try json["count"].ifPresent?.integer(in: 0...Int.max),
            after: try json["after"].ifPresent?.integer(in: 0...Int.max) ?? 0,
            every: try json["every"].ifPresent?.integer(in: 0...Int.max) ?? 1
        )
    }

    /// The fault in the form that ``init(_:)`` takes, without the members that have their default values.
    var json: JSONValue {
        let conditions = JSONValue.members([
            "match": match == Match() ? nil : match.json,
            "probability": probability == 1 ? nil : JSONValue.double(probability),
            "count": count.map(JSONValue.integer),
            "after": after == 0 ? nil : .integer(after), "every": every == 1 ? nil : .integer(every),
        ])
        return .object((action.json.members ?? []) + (conditions.members ?? []))
    }
}

extension SimulatedAPNs.Fault.Match {
    private static var fields: [(name: String, path: WritableKeyPath<SimulatedAPNs.Fault.Match, String?>)] {
        [
            ("topic", \.topic), ("push-type", \.pushType), ("priority", \.priority), ("device-prefix", \.devicePrefix),
            ("device-suffix", \.deviceSuffix),
        ]
    }

    fileprivate init(_ json: APIField) throws(APIProblem) {
        try json.checkMembers(SimulatedAPNs.Fault.Match.fields.map(\.name))
        self.init()
        for (name, path) in SimulatedAPNs.Fault.Match.fields { self[keyPath: path] = try json[name].ifPresent?.text() }
    }

    fileprivate var json: JSONValue {
        .object(
            SimulatedAPNs.Fault.Match.fields.compactMap { name, path in
                self[keyPath: path].map { JSONValue.Member(name, .string($0)) }
            }
        )
    }
}

extension SimulatedAPNs.Fault.Action {
    /// The names of the actions in JSON.
    private enum Name: String, CaseIterable {
        case respond, delay, hang
        case resetStream = "reset-stream"
        case goAway = "goaway"
        case drain, close
        case resetConnection = "reset-connection"
        case refuseConnections = "refuse-connections"
        case limitStreams = "limit-streams"
        case limitWindow = "limit-window"
        case limitErrors = "limit-errors"
        case throttle
        case skewClock = "skew-clock"
    }

    fileprivate init(_ json: APIField) throws(APIProblem) {
        func limit() throws(APIProblem) -> Int { try json["limit"].integer(in: 0...1_000_000) }
        func code(_ standard: UInt32) throws(APIProblem) -> UInt32 {
            try json["code"].ifPresent?.integer(in: 0...UInt32.max) ?? standard
        }
        func duration(_ field: APIField, _ range: ClosedRange<Double>) throws(APIProblem) -> Duration {
            .milliseconds(Int64(try field.number(in: range) * 1_000))
        }
        let debugData = try json["debug-data"].ifPresent?.text() ?? ""
        let delays = 0...Double(SimulatedAPNs.Fault.longestDelay.components.seconds)
        switch try json["do"].choice(of: Name.self) {
        case .respond:
            let reason = APNsReason(rawValue: try json["reason"].text())
            let status = try json["status"].ifPresent?.integer(in: 200...599)
            guard status != nil || reason.status != nil else {
                let name = ShownValue.quoted(reason.rawValue)
                throw json["status"].error("is missing: Apple documents no status for the reason \(name)")
            }
            let retryAfter = try json["retry-after"].ifPresent?.integer(in: 0...Int.max)
            self = .respond(reason, status: status, retryAfter: retryAfter)
        case .delay:
            let jitter = try json["jitter"].ifPresent.map { (jitter) throws(APIProblem) in try duration(jitter, delays)
            }
            self = .delay(try duration(json["seconds"], delays), jitter: jitter ?? .zero)
        case .hang: self = .hang
        case .resetStream: self = .resetStream(code: try code(7))
        case .goAway:
            let includesRequest = try json["includes-request"].ifPresent?.bool() ?? true
            self = .goAway(code: try code(0), debugData: debugData, includesRequest: includesRequest)
        case .drain: self = .drain(debugData: debugData)
        case .close: self = .close
        case .resetConnection: self = .resetConnection
        case .refuseConnections: self = .refuseConnections(try limit())
        case .limitStreams: self = .limitStreams(UInt32(clamping: try limit()))
        case .limitWindow: self = .limitWindow(UInt32(clamping: try limit()))
        case .limitErrors: self = .limitErrors(max(1, try limit()))
        case .throttle: self = .throttle(perDevice: try limit())
        case .skewClock: self = .skewClock(try duration(json["seconds"], -1e8...1e8))
        }
    }

    /// The name of the action in JSON.
    var name: String { json["do"]?.stringValue ?? "" }

    /// The action with its parameters.
    fileprivate var json: JSONValue {
        func action(_ name: Name, _ parameters: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue {
            .object([.init("do", .string(name.rawValue))] + (JSONValue.members(parameters).members ?? []))
        }
        func seconds(_ duration: Duration) -> JSONValue { JSONValue.double(duration / .seconds(1)) ?? 0 }
        func text(_ text: String) -> JSONValue? { text.isEmpty ? nil : .string(text) }
        return switch self {
        case .respond(let reason, let status, let retryAfter):
            action(
                .respond,
                [
                    "reason": .string(reason.rawValue), "status": status.map(JSONValue.integer),
                    "retry-after": retryAfter.map(JSONValue.integer),
                ]
            )
        case .delay(let duration, let jitter):
            action(.delay, ["seconds": seconds(duration), "jitter": jitter == .zero ? nil : seconds(jitter)])
        case .hang: action(.hang)
        case .resetStream(let code): action(.resetStream, ["code": .integer(code)])
        case .goAway(let code, let debugData, let includesRequest):
            action(
                .goAway,
                [
                    "code": .integer(code), "debug-data": text(debugData),
                    "includes-request": includesRequest ? nil : false,
                ]
            )
        case .drain(let debugData): action(.drain, ["debug-data": text(debugData)])
        case .close: action(.close)
        case .resetConnection: action(.resetConnection)
        case .refuseConnections(let count): action(.refuseConnections, ["limit": .integer(count)])
        case .limitStreams(let count): action(.limitStreams, ["limit": .integer(count)])
        case .limitWindow(let count): action(.limitWindow, ["limit": .integer(count)])
        case .limitErrors(let count): action(.limitErrors, ["limit": .integer(count)])
        case .throttle(let count): action(.throttle, ["limit": .integer(count)])
        case .skewClock(let duration): action(.skewClock, ["seconds": seconds(duration)])
        }
    }
}
