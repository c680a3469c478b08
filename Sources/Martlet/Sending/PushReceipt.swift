// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletTransport

/// The receipt of a push that APNs has accepted.
public struct PushReceipt: Sendable, Hashable, Codable {
    /// The push's identifier in the response, or as sent when the response has none.
    public let id: APNsID
    /// The key of the push's delivery log in Apple's console; only the development environment provides it.
    ///
    /// Source: "Handling notification responses from APNs".
    public let uniqueID: String?
    /// The number of times the push was sent; 1 when the first attempt was accepted.
    public let attempts: Int
    /// The number of earlier attempts that were sent and not answered; each of them may have been delivered, too.
    ///
    /// It is 0 unless ``RetryPolicy/unknownOutcome`` allows such attempts, or a server other than APNs answered with
    /// status 500, 502 or 504.
    public let unknownTries: Int
    /// The time spent in each phase of the send.
    public let timing: SendTiming

    /// Creates a receipt, for a fake ``PushSending``.
    public init(
        id: APNsID,
        uniqueID: String? = nil,
        attempts: Int = 1,
        unknownTries: Int = 0,
        timing: SendTiming = SendTiming(waiting: .zero)
    ) {
        self.id = id
        self.uniqueID = uniqueID
        self.attempts = attempts
        self.unknownTries = unknownTries
        self.timing = timing
    }

    init(_ fields: HTTPFields, of id: APNsID, _ result: PushResult) {
        self.id = fields.answeredID ?? id
        uniqueID = fields["apns-unique-id"]
        attempts = result.attempts
        unknownTries = result.unknownTries
        timing = result.timing
    }
}
