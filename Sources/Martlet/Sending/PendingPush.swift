// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A push with its content and its caller.
///
/// It is `@unchecked Sendable` because its caller creates it, passes it to the pool's loop once and never accesses it
/// again; afterwards only that loop does. A cancellation passes the reference to the loop without accessing the push.
@safe final class PendingPush: @unchecked Sendable {
    let id: APNsID
    let draft: PushDraft
    /// The device; nil when the draft has all fields.
    let token: DeviceToken?
    /// The lane and index of a push in a bulk send; nil for a push with its own caller.
    let ticket: BulkTicket?

    /// The key of the push in the pool; nil before its submission.
    var key: PushKey?
    /// Whether the caller cancelled the push before its submission.
    var isCancelled = false
    /// The open stream, and after acceptance the stream with the response until the caller has received it.
    var stream: HTTP2Stream?
    /// An unsafe continuation, because `settle` removes it when resuming it, which already rules out a second resume.
    private var continuation: UnsafeContinuation<Result<AcceptedResponse, APNsError>, Never>?

    init(_ draft: PushDraft, id: APNsID, to token: DeviceToken? = nil, ticket: BulkTicket? = nil) {
        self.id = id
        self.draft = draft
        self.token = token
        self.ticket = ticket
    }

    /// The fields to send, except for the provider token.
    var fields: HTTPFields { draft.fields(to: token, id: id) }

    /// Stores the continuation of the waiting caller.
    func wait(with continuation: UnsafeContinuation<Result<AcceptedResponse, APNsError>, Never>) {
        unsafe self.continuation = continuation
    }

    /// Reports the result to the caller, and returns it.
    func settle(_ result: PushResult) -> Result<PushReceipt, APNsError> {
        let answer = stream.take()
        let receipt: Result<PushReceipt, APNsError>
        if result.failure == nil, let answer {
            receipt = .success(PushReceipt(answer.fields, of: id, result))
        } else {
            // An accepted push has its response; should it be missing, the outcome is unknown.
            let lost = {
                APNsError(.connectionLost, id: self.id, description: "the response was lost", outcome: .unknown)
            }
            receipt = .failure(result.failure ?? lost())
        }
        if let ticket, let token {
            ticket.lane.ended(BulkOutcome(index: ticket.index, token: token, result: receipt))
        } else {
            unsafe continuation.take()?.resume(returning: receipt.map { AcceptedResponse($0, answer) })
        }
        return receipt
    }
}
