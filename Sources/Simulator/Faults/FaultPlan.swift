internal import APNs
internal import Wire

/// Decides what goes wrong with which request: a struct without I/O or a clock, the same for the same seed.
struct FaultPlan {
    /// A fault with what has come of it.
    fileprivate struct Rule {
        let fault: Fault
        /// Of its own, so that a fault more does not change when the others happen.
        var random: SplitMix64
        var matches = 0
        var times = 0
        /// Requests to each device in this second.
        var devices: [String: Int] = [:]
        var second: Int64 = 0
    }

    /// No answer is put off for longer, in seconds: a day.
    fileprivate static let longest: Double = 86_400

    private var rules: [Rule]
    /// What decides what goes wrong when.
    let seed: UInt64

    /// What goes wrong.
    var faults: [Fault] { rules.map(\.fault) }

    /// How many faults there have been; each has a chance of its own, also those that come later.
    private var count = 0

    init(_ faults: [Fault], seed: UInt64) {
        self.seed = seed
        rules = []
        for fault in faults { add(fault) }
    }

    /// Has one more thing go wrong; what has come of the others stays.
    mutating func add(_ fault: Fault) {
        let random = SplitMix64(state: seed &+ UInt64(count) &* 0x9E37_79B9_7F4A_7C15)
        rules.append(Rule(fault: fault, random: random))
        count += 1
    }

    /// Has one thing go wrong no more; what has come of the others stays.
    mutating func remove(at index: Int) {
        rules.remove(at: index)
    }

    /// The number of streams that every connection may have open; nil for no limit by a fault.
    var streamLimit: UInt32? { rules.compactMap(\.fault.limitForAllConnections).min() }

    /// Returns what goes wrong with a request, in the order of the faults; mostly nothing.
    ///
    /// - Parameters:
    ///   - device: The device token as it stands in the path; empty for a request about none.
    ///   - headers: The request's headers.
    ///   - hasToken: Whether the request is authenticated by a provider token; only such a request can be told that
    ///     its token has expired.
    ///   - now: The time of the request in seconds since 1970.
    /// - Returns: The faults that happen.
    mutating func injections(
        on device: String,
        _ headers: PushHeaders,
        hasToken: Bool = true,
        at now: Int64
    ) -> [FaultInjection] {
        let suffix = FaultPlan.magic(device).map { FaultInjection(action: $0, ofSuffixIn: device) }
        guard !rules.isEmpty || suffix != nil else { return [] }
        let injections: [FaultInjection] = rules.indices.compactMap { index in
            if !hasToken, case .respond(.expiredProviderToken, _, _) = rules[index].fault.action { return nil }
            let action = rules[index].action(on: device, headers, at: now)
            return action.map { FaultInjection(action: $0, of: rules[index].fault) }
        }
        return injections + [suffix].compactMap(\.self)
    }

    /// Returns the faults that follow from the number of errors on a connection.
    ///
    /// - Parameters:
    ///   - device: The device token as it stands in the path; empty for a request about none.
    ///   - headers: The request's headers.
    ///   - count: The number of errors on the connection.
    ///   - reason: The reason of the answer to the request.
    /// - Returns: The faults that happen.
    mutating func injections(
        on device: String,
        _ headers: PushHeaders,
        afterErrors count: Int,
        _ reason: Reason?
    ) -> [FaultInjection] {
        guard count > 0 else { return [] }
        return rules.indices.compactMap { index in
            let action = rules[index].action(on: device, headers, afterErrors: count, reason)
            return action.map { FaultInjection(action: $0, of: rules[index].fault) }
        }
    }

    /// What device tokens with a telling end have go wrong, without any setup.
    ///
    /// Upper-case digits count as lower-case ones.
    ///
    /// `…00dead` is unregistered, `…00deaf` never gets an answer; `…000429` and the like get that status; with
    /// `…00c105` the connection ends, with `…00fa11` it is reset, and with `…00e5e7` the stream is.
    static func magic(_ device: String) -> Fault.Action? {
        let end = device.utf8.suffix(6)
        guard end.count == 6, end.starts(with: "00".utf8) else { return nil }
        return switch String(decoding: end.dropFirst(2), as: UTF8.self).lowercased() {
        case "dead", "0410": .respond(.unregistered)
        case "deaf": .hang
        case "c105": .close
        case "fa11": .resetConnection
        case "e5e7": .resetStream(code: HTTP2ErrorCode.internalError.rawValue)
        case "0400": .respond(.badDeviceToken)
        case "0403": .respond(.invalidProviderToken)
        case "0413": .respond(.payloadTooLarge)
        case "0429": .respond(.tooManyRequests)
        case "0500": .respond(.internalServerError)
        case "0503": .respond(.serviceUnavailable)
        default: nil
        }
    }
}

extension FaultPlan.Rule {
    fileprivate mutating func action(
        on device: String,
        _ headers: PushHeaders,
        afterErrors count: Int,
        _ reason: Reason?
    ) -> Fault.Action? {
        guard case .limitErrors(let limit) = fault.action, count >= limit, isDue(on: device, headers) else {
            return nil
        }
        times += 1
        // APNs puts the strings of its answers into the debug data ("Sending notification requests to APNs").
        let debugData = reason.map { JSONValue.object([.init("reason", .string($0.rawValue))]).encoded() }
        return .goAway(debugData: String(decoding: debugData ?? [], as: UTF8.self))
    }

    /// Whether the fault happens with a request, if nothing but its conditions matters.
    private mutating func isDue(on device: String, _ headers: PushHeaders) -> Bool {
        guard fault.match.matches(device, headers) else { return false }
        matches += 1
        if let count = fault.count, times >= count { return false }
        guard matches > fault.after, (matches - fault.after - 1).isMultiple(of: fault.every) else { return false }
        // Asked even when it is certain, so that a change of the likelihood changes nothing else.
        return Double.random(in: 0..<1, using: &random) < fault.probability
    }

    fileprivate mutating func action(on device: String, _ headers: PushHeaders, at now: Int64) -> Fault.Action? {
        if case .limitErrors = fault.action { return nil }
        if fault.limitForAllConnections != nil { return nil }
        guard isDue(on: device, headers) else { return nil }
        switch fault.action {
        case .throttle(let limit):
            guard !device.isEmpty else { return nil }
            if now != second { devices = [:] }
            second = now
            let device = device.lowercased()
            devices[device, default: 0] += 1
            guard devices[device, default: 0] > limit else { return nil }
            times += 1
            return .respond(.tooManyRequests)
        case .delay(let delay, let jitter):
            times += 1
            let more = Double.random(in: 0..<1, using: &random) * min(jitter.seconds, FaultPlan.longest)
            return .delay(delay + .milliseconds(Int64(more * 1_000)))
        default:
            times += 1
            return fault.action
        }
    }
}

extension Fault.Match {
    fileprivate func matches(_ device: String, _ headers: PushHeaders) -> Bool {
        (topic == nil || topic == headers.topic) && (pushType == nil || pushType == headers.pushType)
            && (priority == nil || priority == headers.priority)
            && (devicePrefix.map { device.lowercased().hasPrefix($0.lowercased()) } ?? true)
            && (deviceSuffix.map { device.lowercased().hasSuffix($0.lowercased()) } ?? true)
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
