// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

/// The value of `x-martlet-state`, which each answer over the APNs protocol has.
///
/// The status alone does not distinguish a push that Apple accepted from one that the relay stored. The article
/// <doc:RunTheRelay> has the meaning of each value.
enum AnswerState: String, CaseIterable {
    case accepted
    case delivered
    case refused
    case expired
    case cancelled
    case superseded
    case dead
    case suppressed
    case rejected
    case forwarded
    case unknown

    static let field = "x-martlet-state"

    fileprivate init(_ state: Outcome.State) {
        self =
            switch state {
            case .delivered: .delivered
            case .refused: .refused
            case .expired: .expired
            case .cancelled: .cancelled
            case .superseded: .superseded
            case .dead: .dead
            }
    }
}

extension APNsResponse {
    /// The field with the rules that the headers of a push break, which is sent nevertheless.
    static let notesField = "x-martlet-notes"

    private init(
        _ state: AnswerState,
        status: Int,
        reason: APNsReason? = nil,
        timestamp: Int64? = nil,
        fields: [(name: String, value: String)] = [],
        body: JSONValue? = nil
    ) {
        self.init(
            status: status,
            reason: reason,
            timestamp: timestamp,
            fields: fields + [(AnswerState.field, state.rawValue)],
            body: body
        )
    }

    /// Returns a rejection by the relay itself, with a reason of Apple's list.
    static func rejected(_ reason: APNsReason, retryAfter: Int? = nil) -> APNsResponse {
        let fields = retryAfter.map { [(name: "retry-after", value: String($0))] } ?? []
        return APNsResponse(.rejected, status: reason.status ?? 400, reason: reason, fields: fields)
    }

    /// Returns the rejection of a push to a device token that Apple has reported as unregistered.
    static func suppressed(_ token: UnregisteredToken) -> APNsResponse {
        APNsResponse(
            .suppressed,
            status: 410,
            reason: .unregistered,
            timestamp: token.unregisteredAt ?? token.reportedAt
        )
    }

    /// The answer to a push that is stored and has not ended.
    static let accepted = APNsResponse(.accepted, status: 200)

    /// Returns the answer to a push that has ended: 200 if Apple accepted it, otherwise Apple's last status and reason.
    ///
    /// The status is 503 for a push that ended without an answer of Apple. A client that ignores the state would take a
    /// 200 as success.
    static func ended(_ outcome: Outcome) -> APNsResponse {
        var fields: [(name: String, value: String)] = []
        if let uniqueID = outcome.uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        if outcome.unknownTries > 0 { fields.append(("x-martlet-unknown-tries", String(outcome.unknownTries))) }
        guard outcome.state != .delivered else { return APNsResponse(.delivered, status: 200, fields: fields) }
        return APNsResponse(
            AnswerState(outcome.state),
            status: outcome.status ?? 503,
            reason: outcome.status == nil ? .serviceUnavailable : outcome.reason.map(APNsReason.init(rawValue:)),
            timestamp: outcome.unregisteredAt,
            fields: fields
        )
    }

    /// Creates the response for Apple's answer to a forwarded request.
    init(_ answer: AcceptedResponse) {
        let identifiers = [
            ("apns-request-id", answer.fields["apns-request-id"]),
            ("apns-channel-id", answer.fields["apns-channel-id"]),
        ]
        let fields = identifiers.compactMap { name, value in value.map { (name: name, value: $0) } }
        self.init(.forwarded, status: answer.fields.status, fields: fields, body: try? JSONReader.read(answer.body))
    }

    /// Creates the response for a forwarded request that failed.
    init(_ error: APNsError) {
        let state: AnswerState =
            switch error.outcome {
            case .answered: .forwarded
            case .neverSent, .unprocessed: .rejected
            case .unknown: .unknown
            }
        self.init(state, status: error.status ?? 503, reason: error.reason ?? .serviceUnavailable)
    }

    /// Sets the identifier: the client's as it was sent if it is a UUID, or else Apple's, or else a fresh one.
    mutating func identify(_ request: APNsRequest, orAs freshID: APNsID) {
        let name = request.hasRequestID ? "apns-request-id" : "apns-id"
        if let id = APNsRequest.returnedID(request.ownID) {
            // Apple's answer to a forwarded request has the same identifier, in lower case.
            fields.removeAll { $0.name == name }
            fields.append((name, id))
        } else if !fields.contains(where: { $0.name == name }) {
            fields.append((name, freshID.description))
        }
    }
}
