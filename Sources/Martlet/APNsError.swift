// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reason why a push was not accepted.
public struct APNsError: DescribedError, Hashable {
    /// The kinds of failure; later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// APNs answered with a status other than 200; see ``APNsError/reason``.
        public static let refused = Code(description: "refused")
        /// The push violates a rule and was not sent; see ``APNsError/finding``.
        public static let invalid = Code(description: "invalid")
        /// A key, certificate or authority cannot be used.
        public static let badCredentials = Code(description: "badCredentials")
        /// The host name has no address.
        public static let nameNotResolved = Code(description: "nameNotResolved")
        /// No connection could be established.
        public static let connectionFailed = Code(description: "connectionFailed")
        /// The server's certificate is not trusted, or the server did not accept the client's certificate.
        public static let certificateRejected = Code(description: "certificateRejected")
        /// The server does not support HTTP/2.
        public static let notHTTP2 = Code(description: "notHTTP2")
        /// The connection ended before the response arrived.
        public static let connectionLost = Code(description: "connectionLost")
        /// The server's response is not valid.
        public static let unreadableAnswer = Code(description: "unreadableAnswer")
        /// No response arrived before the timeout.
        public static let timedOut = Code(description: "timedOut")
        /// The calling task was cancelled.
        public static let cancelled = Code(description: "cancelled")
        /// The client was closed.
        public static let closed = Code(description: "closed")
        /// Too many sends are waiting already.
        public static let overloaded = Code(description: "overloaded")
        /// Sends are suspended for a while because many in a row were rejected for the same reason.
        public static let circuitOpen = Code(description: "circuitOpen")
        /// The operating system provided no more descriptors, memory or threads.
        public static let system = Code(description: "system")
    }

    /// The outcome of a push that was not accepted.
    public enum Outcome: String, Sendable, Hashable {
        /// APNs answered and rejected the push.
        case answered
        /// The push did not leave this machine.
        case neverSent
        /// The server certainly did not process the push (RFC 9113 §8.7); sending it again cannot deliver it twice.
        case unprocessed
        /// The push was sent and not answered; sending it again may deliver it twice.
        case unknown
    }

    /// All properties behind one reference, because the size of the error type also affects successful sends.
    private final class Storage: Sendable {
        let properties: Properties

        init(_ properties: Properties) {
            self.properties = properties
        }
    }

    /// The values of the public properties.
    struct Properties: Sendable, Hashable {
        var code: Code
        var description: String
        var outcome: Outcome
        var id: APNsID?
        var status: Int?
        var reason: APNsReason?
        var unregisteredAt: Date?
        var lastFailure: APNsError?
        var retryAfter: Duration?
        var finding: PushLint.Finding?
        var attempts: Int = 0
        var unknownTries: Int = 0
        var timing: SendTiming = SendTiming(waiting: .zero)
        var isTLSFailure = false
    }

    private var storage: Storage
    /// All properties; to set several of them, change a copy of this value, because each change allocates.
    var properties: Properties {
        get { storage.properties }
        set { storage = Storage(newValue) }
    }

    /// The kind of failure.
    public var code: Code { properties.code }
    /// The error message.
    public var description: String { properties.description }
    /// Whether no connection could be established because the TLS handshake failed.
    package var isTLSFailure: Bool { properties.isTLSFailure }
    /// The outcome of the push.
    public var outcome: Outcome { properties.outcome }
    /// The push's identifier; nil when the failure does not concern a single push.
    public var id: APNsID? { properties.id }
    /// The HTTP status of the response; nil without a response.
    public var status: Int? { properties.status }
    /// The reason in the response, known or not; nil without a response.
    public var reason: APNsReason? { properties.reason }
    /// The time at which APNs last confirmed that the token is not valid for the topic; nil unless the status is 410.
    ///
    /// Delete the token unless the app has registered it again since; see
    /// ``BulkReport/UnregisteredToken/isStillUnregistered(registeredAt:)``. Source: "Handling notification responses
    /// from APNs" (`timestamp`).
    public var unregisteredAt: Date? { properties.unregisteredAt }
    /// The delay that the server requested before another attempt, at most 30 days; nil when it requested none.
    public var retryAfter: Duration? { properties.retryAfter }
    /// The rule that the push violates and the location, for the code `invalid`; nil for other codes.
    public var finding: PushLint.Finding? { properties.finding }
    /// The number of times the push was sent.
    public var attempts: Int { properties.attempts }
    /// The number of earlier attempts that were sent and not answered; each of them may have been delivered, too.
    ///
    /// It is 0 unless ``RetryPolicy/unknownOutcome`` allows such attempts, or a server other than APNs answered with
    /// status 500, 502 or 504.
    public var unknownTries: Int { properties.unknownTries }
    /// The time spent in each phase of the send.
    public var timing: SendTiming { properties.timing }

    /// The failure of the last attempt, when the send ended for another reason before the next: it was cancelled, its
    /// timeout expired, or the client was closed.
    public var lastFailure: APNsError? { properties.lastFailure }
    /// The underlying error: a `CancellationError` when the send was cancelled, otherwise ``lastFailure``.
    public var cause: (any Error)? {
        code == .cancelled ? CancellationError() : lastFailure
    }

    /// Creates an error, for a fake ``PushSending`` or a server that reports errors in this form.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - description: The error message.
    ///   - outcome: The outcome of the push.
    ///   - id: The push's identifier.
    ///   - status: The HTTP status of the response.
    ///   - reason: The reason in the response.
    ///   - unregisteredAt: The time at which APNs last confirmed that the token is not valid for the topic.
    ///   - retryAfter: The delay that the server requested before another attempt.
    ///   - attempts: The number of times the push was sent.
    ///   - unknownTries: The number of earlier attempts that were sent and not answered.
    ///   - timing: The time spent in each phase of the send.
    public init(
        _ code: Code,
        description: String,
        outcome: Outcome,
        id: APNsID? = nil,
        status: Int? = nil,
        reason: APNsReason? = nil,
        unregisteredAt: Date? = nil,
        retryAfter: Duration? = nil,
        attempts: Int = 0,
        unknownTries: Int = 0,
        timing: SendTiming = SendTiming(waiting: .zero)
    ) {
        self.init(
            Properties(
                code: code,
                description: description,
                outcome: outcome,
                id: id,
                status: status,
                reason: reason,
                unregisteredAt: unregisteredAt,
                retryAfter: retryAfter,
                attempts: attempts,
                unknownTries: unknownTries,
                timing: timing
            )
        )
    }

    /// Creates the error for a response of APNs that refuses a push, for a fake ``PushSending``.
    ///
    /// - Parameters:
    ///   - reason: The reason, which determines the status; 400 for a reason that Apple does not document.
    ///   - id: The push's identifier.
    ///   - unregisteredAt: The time at which APNs last confirmed that the token is not valid for the topic, for status
    ///     410.
    ///   - retryAfter: The delay that the server requested before another attempt.
    /// - Returns: The error.
    public static func refused(
        _ reason: APNsReason,
        id: APNsID? = nil,
        unregisteredAt: Date? = nil,
        retryAfter: Duration? = nil
    ) -> APNsError {
        let status = reason.status ?? 400
        return APNsError(
            .refused,
            description: description(status: status, reason),
            outcome: .answered,
            id: id,
            status: status,
            reason: reason,
            unregisteredAt: unregisteredAt,
            retryAfter: retryAfter,
            attempts: 1
        )
    }

    static func description(status: Int, _ reason: APNsReason) -> String {
        "APNs answered \(status) \(reason.rawValue)" + (reason.explanation.map { ": \($0)" } ?? "")
    }

    init(_ properties: Properties) {
        storage = Storage(properties)
    }

    init(_ code: Code, id: APNsID? = nil, description: String, outcome: Outcome = .neverSent) {
        self.init(Properties(code: code, description: description, outcome: outcome, id: id))
    }

    init(_ finding: PushLint.Finding, id: APNsID?) {
        self.init(.invalid, id: id, description: "not sent: \(finding.message)")
        properties.finding = finding
        properties.reason = finding.reason
    }

    /// Creates a failure of the connection, for a push or for the whole client.
    init(_ error: TransportError, id: APNsID? = nil, outcome: Outcome = .neverSent) {
        let code: Code =
            switch error.kind {
            case .nameNotResolved: .nameNotResolved
            case .connectionRefused, .tlsFailed: .connectionFailed
            case .certificateRejected: .certificateRejected
            case .badCredentials: .badCredentials
            case .notHTTP2: .notHTTP2
            case .timedOut: .timedOut
            case .closedByPeer, .protocolViolation: .connectionLost
            case .closedLocally: .closed
            case .system, .cannotListen, .addressNotAvailable: .system
            }
        self.init(code, id: id, description: error.description, outcome: outcome)
        properties.isTLSFailure = error.kind == .tlsFailed
    }
}

extension APNsError {
    /// Returns whether two errors have equal properties.
    public static func == (left: APNsError, right: APNsError) -> Bool {
        left.properties == right.properties
    }

    /// Hashes the properties of the error.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(properties)
    }
}
