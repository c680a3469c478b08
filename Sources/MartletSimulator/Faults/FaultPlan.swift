// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The configured faults and the state that decides which requests they affect.
///
/// The struct has no I/O and no clock; the same seed reproduces the same decisions.
struct FaultPlan {
    /// A fault with the state of its conditions.
    fileprivate struct Rule {
        let fault: SimulatedAPNs.Fault
        /// The random numbers of this fault alone, so that another fault does not change the requests that this one
        /// affects.
        var random: SplitMix64
        var matches = 0
        var times = 0
        /// The time of the last request that the fault affected, in milliseconds since 1970; nil for none.
        var lastTime: Int64?
        /// The number of requests to each device in ``second``.
        var devices: [String: Int] = [:]
        /// The second since 1970 of the last request.
        var second: Int64 = 0
    }

    private var rules: [Rule]
    /// The seed of the random numbers.
    let seed: UInt64
    /// Whether the end of a device token selects a fault.
    let usesTokenSuffixes: Bool

    /// The faults, in the order in which they were added.
    var faults: [SimulatedAPNs.Fault] { rules.map(\.fault) }
    /// The number of times that each fault has affected a request, in the order of ``faults``.
    var counts: [Int] { rules.map(\.times) }
    /// The time at which each fault last affected a request, in milliseconds since 1970, in the order of ``faults``.
    var lastTimes: [Int64?] { rules.map(\.lastTime) }

    /// The number of faults that were added, including removed ones; it makes the random numbers of each fault differ.
    private var count = 0

    init(_ faults: [SimulatedAPNs.Fault], seed: UInt64, usesTokenSuffixes: Bool = true) {
        self.seed = seed
        self.usesTokenSuffixes = usesTokenSuffixes
        rules = []
        for fault in faults { add(fault) }
    }

    /// Adds a fault; the state of the others is unchanged.
    mutating func add(_ fault: SimulatedAPNs.Fault) {
        let random = SplitMix64(state: seed &+ UInt64(count) &* 0x9E37_79B9_7F4A_7C15)
        rules.append(Rule(fault: fault, random: random))
        count += 1
    }

    /// Removes a fault; the state of the others is unchanged.
    mutating func remove(at index: Int) {
        rules.remove(at: index)
    }

    /// The number of streams that every connection may have open; nil when no fault limits it.
    var streamLimit: UInt32? { rules.compactMap(\.fault.limitForAllConnections).min() }

    /// Returns the faults that affect a request: configured ones in their order, then that of the token's suffix.
    ///
    /// Without a provider token, no fault declares it expired. Only faults that determine the answer affect a push
    /// without a connection.
    mutating func injections(
        on device: String,
        _ headers: PushHeaders,
        hasToken: Bool = true,
        hasConnection: Bool = true,
        at now: Int64
    ) -> [FaultInjection] {
        let action = usesTokenSuffixes ? FaultPlan.suffixAction(device) : nil
        let suffix = action.map { FaultInjection(action: $0, ofSuffixIn: device) }
        guard !rules.isEmpty || suffix != nil else { return [] }
        let injections: [FaultInjection] = rules.indices.compactMap { index in
            guard hasConnection || rules[index].fault.action.determinesAnswer else { return nil }
            if !hasToken, case .respond(.expiredProviderToken, _, _) = rules[index].fault.action { return nil }
            let action = rules[index].action(on: device, headers, at: now)
            return action.map { FaultInjection(action: $0, of: rules[index].fault) }
        }
        return injections + [suffix].compactMap(\.self)
    }

    /// Returns the faults that the number of errors on a connection triggers.
    mutating func injections(
        on device: String,
        _ headers: PushHeaders,
        afterErrors count: Int,
        _ reason: APNsReason?,
        at now: Int64
    ) -> [FaultInjection] {
        guard count > 0 else { return [] }
        return rules.indices.compactMap { index in
            let action = rules[index].action(on: device, headers, afterErrors: count, reason, at: now)
            return action.map { FaultInjection(action: $0, of: rules[index].fault) }
        }
    }

    /// Returns the action that the suffix of a device token selects, without any setup; nil for other suffixes.
    ///
    /// Digits of either case match.
    ///
    /// `…00dead` is unregistered, and `…00deaf` never gets an answer; `…000429` and the like get that status; with
    /// `…00c105` the connection is closed, with `…00fa11` it is reset, and with `…00e5e7` the stream is reset.
    static func suffixAction(_ device: String) -> SimulatedAPNs.Fault.Action? {
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
        _ reason: APNsReason?,
        at now: Int64
    ) -> SimulatedAPNs.Fault.Action? {
        guard case .limitErrors(let limit) = fault.action, count >= limit, isDue(on: device, headers) else {
            return nil
        }
        recordUse(at: now)
        // APNs puts the strings of its answers into the debug data ("Sending notification requests to APNs").
        let debugData = reason.map { JSONValue.object([.init("reason", .string($0.rawValue))]).encoded() }
        return .goAway(debugData: String(decoding: debugData ?? [], as: UTF8.self))
    }

    /// Counts a request that the fault affects.
    private mutating func recordUse(at now: Int64) {
        times += 1
        lastTime = now
    }

    /// Counts a request that matches the fault, and returns whether its conditions let the fault affect the request.
    private mutating func isDue(on device: String, _ headers: PushHeaders) -> Bool {
        guard fault.match.matches(device, headers) else { return false }
        matches += 1
        if let count = fault.count, times >= count { return false }
        guard matches > fault.after, (matches - fault.after - 1).isMultiple(of: fault.every) else { return false }
        // Drawn even when the outcome is certain, so that another probability does not change the numbers that follow.
        return Double.random(in: 0..<1, using: &random) < fault.probability
    }

    fileprivate mutating func action(on device: String, _ headers: PushHeaders, at now: Int64) -> SimulatedAPNs.Fault
        .Action?
    {
        if case .limitErrors = fault.action { return nil }
        if fault.limitForAllConnections != nil { return nil }
        guard isDue(on: device, headers) else { return nil }
        switch fault.action {
        case .throttle(let limit):
            guard !device.isEmpty else { return nil }
            if now / 1_000 != second { devices = [:] }
            second = now / 1_000
            let device = device.lowercased()
            devices[device, default: 0] += 1
            guard devices[device, default: 0] > limit else { return nil }
            recordUse(at: now)
            return .respond(.tooManyRequests)
        case .delay(let delay, let jitter):
            recordUse(at: now)
            let more = Double.random(in: 0..<1, using: &random) * jitter.asDelay.seconds
            return .delay(delay.asDelay + .milliseconds(Int64(more * 1_000)))
        default:
            recordUse(at: now)
            return fault.action
        }
    }
}

extension SimulatedAPNs.Fault.Match {
    fileprivate func matches(_ device: String, _ headers: PushHeaders) -> Bool {
        (topic == nil || topic == headers.topic) && (pushType == nil || pushType == headers.pushType)
            && (priority == nil || priority == headers.priority)
            && (devicePrefix.map { device.lowercased().hasPrefix($0.lowercased()) } ?? true)
            && (deviceSuffix.map { device.lowercased().hasSuffix($0.lowercased()) } ?? true)
    }
}

extension Duration {
    /// The duration limited to those of delays.
    fileprivate var asDelay: Duration { min(max(self, .zero), SimulatedAPNs.Fault.longestDelay) }

    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
