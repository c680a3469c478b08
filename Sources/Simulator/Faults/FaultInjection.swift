internal import APNs

/// A fault that happens with one request.
struct FaultInjection: Equatable, CustomStringConvertible {
    /// The number of digits of a device token that choose a fault.
    private static let suffixLength = 6

    /// The action, which for a fault with a condition of its own is the one that follows from it.
    let action: Fault.Action
    /// The name of the fault: that of its action in JSON, or the suffix of the device token.
    let name: String
    /// The fault in the words of a finding.
    let description: String

    /// An action of a fault that was set.
    init(action: Fault.Action, of fault: Fault) {
        self.action = action
        name = fault.action.name
        description = "the simulator's fault \(name)"
    }

    /// An action that the suffix of a device token chooses.
    init(action: Fault.Action, ofSuffixIn deviceToken: String) {
        self.action = action
        name = deviceToken.suffix(FaultInjection.suffixLength).lowercased()
        description = "the device token suffix \(name)"
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

    /// Whether the fault has a part in the answer to the request, or in the end of its connection.
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

/// The cause for which an answer was not written to the connection.
enum AnswerLoss {
    /// The client reset the stream, or closed the connection.
    case client
    /// A fault that happened with the request itself.
    case fault(FaultInjection)
    /// A fault that happened with another request of the connection, and ended the connection.
    case connection(FaultInjection)

    /// The fault; nil when the client is the cause.
    var fault: FaultInjection? {
        switch self {
        case .client: nil
        case .fault(let injection), .connection(let injection): injection
        }
    }
}

extension Fault {
    /// The number of streams that every connection may have open; nil for a fault with conditions, and for others.
    var limitForAllConnections: UInt32? {
        guard case .limitStreams(let limit) = action, self == Fault(action) else { return nil }
        return limit
    }
}
