// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A fault that affects one request.
struct FaultInjection: Equatable, CustomStringConvertible {
    /// The number of digits at the end of a device token that select a fault.
    private static let suffixLength = 6

    /// The action to perform; for a fault such as `throttle` or `limitErrors`, the action that results from it.
    let action: SimulatedAPNs.Fault.Action
    /// The name of the fault: that of its action in JSON, or the suffix of the device token.
    let name: String
    /// The description of the fault for findings.
    let description: String
    /// Whether the suffix of the device token selected the fault.
    let isFromDeviceToken: Bool

    /// The refusal of a provider token that an earlier fault has declared expired.
    static let expiredToken = FaultInjection(
        action: .respond(.expiredProviderToken),
        of: SimulatedAPNs.Fault(.respond(.expiredProviderToken))
    )

    /// Creates the injection of a configured fault.
    init(action: SimulatedAPNs.Fault.Action, of fault: SimulatedAPNs.Fault) {
        self.action = action
        name = fault.action.name
        description = "the simulator's fault \(name)"
        isFromDeviceToken = false
    }

    /// Creates the injection that the suffix of a device token selects.
    init(action: SimulatedAPNs.Fault.Action, ofSuffixIn deviceToken: String) {
        self.action = action
        name = deviceToken.suffix(FaultInjection.suffixLength).lowercased()
        description = "the device token suffix \(name)"
        isFromDeviceToken = true
    }

    /// Whether the fault only replaces the acceptance of a request: APNs knows the state of a device token only of
    /// requests that are otherwise valid.
    var needsAcceptance: Bool {
        if case .respond = action { isFromDeviceToken } else { false }
    }

    /// Whether the request gets no answer.
    var withholdsAnswer: Bool {
        switch action {
        case .hang, .resetStream, .close, .resetConnection: true
        case .goAway(_, _, let includesRequest): !includesRequest
        case .respond, .delay, .drain, .refuseConnections, .limitStreams, .limitWindow, .limitErrors, .throttle,
            .skewClock:
            false
        }
    }

    /// Whether the action is a GOAWAY frame, which follows the answer to the request.
    var isGoAway: Bool {
        switch action {
        case .goAway, .drain: true
        default: false
        }
    }

    /// The delay of the answer.
    var delay: Duration {
        if case .delay(let delay, _) = action { delay } else { .zero }
    }

    /// Whether the fault can change the answer to the request or end its connection.
    var affectsRequest: Bool {
        switch action {
        case .refuseConnections, .limitStreams, .limitWindow: false
        default: true
        }
    }
}

extension [FaultInjection] {
    /// The fault that decides the answer to a request; nil when none affects it.
    var decisive: FaultInjection? {
        first(where: \.withholdsAnswer)
            ?? last { if case .respond = $0.action { true } else { false } }
            ?? first(where: \.affectsRequest)
    }
}

extension SimulatedAPNs.Fault {
    /// The maximum delay of an answer, and the maximum jitter.
    static let longestDelay: Duration = .seconds(3_600)

    /// The number of streams that every connection may have open; nil for a fault with conditions or another action.
    var limitForAllConnections: UInt32? {
        guard case .limitStreams(let limit) = action, self == SimulatedAPNs.Fault(action) else { return nil }
        return limit
    }
}

extension SimulatedAPNs.Fault.Action {
    /// Whether the action gives an answer in place of APNs, which needs no connection.
    var determinesAnswer: Bool {
        switch self {
        case .respond, .throttle: true
        case .delay, .hang, .resetStream, .goAway, .drain, .close, .resetConnection, .refuseConnections, .limitStreams,
            .limitWindow, .limitErrors, .skewClock:
            false
        }
    }
}
