internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A push with its content, its caller and its progress.
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

    /// The state on which the pool's decisions are based.
    var progress = PushProgress()
    /// The failure of the last attempt, reported when there is no time for another.
    var lastError: APNsError?
    /// The open stream, and after acceptance the stream with the response until the caller has received it.
    var stream: HTTP2Stream?
    /// The time of issue of the provider token with which the push was sent.
    var tokenIssuedAt: Date?
    /// The failure of a settled push; nil when it was accepted.
    var failure: APNsError?
    /// An unsafe continuation, because `settle` removes it when resuming it, which already rules out a second resume.
    private var continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>?

    init(_ draft: PushDraft, id: APNsID, to token: DeviceToken? = nil, ticket: BulkTicket? = nil) {
        self.id = id
        self.draft = draft
        self.token = token
        self.ticket = ticket
    }

    var limits: SendLimits { draft.limits }

    /// The fields to send, except for the provider token.
    var fields: HTTPFields { draft.fields(to: token, id: id) }

    /// Stores the continuation of the waiting caller.
    func wait(with continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>) {
        unsafe self.continuation = continuation
    }

    /// Reports the result to the caller.
    func settle() {
        let answer = stream.take()
        let result: Result<PushReceipt, APNsError>
        if failure == nil, let answer {
            result = .success(PushReceipt(answer.fields, of: self))
        } else {
            // An accepted push has its response; should it be missing, the outcome is unknown.
            let lost = {
                APNsError(.connectionLost, id: self.id, description: "the answer was lost", outcome: .unknown)
            }
            result = .failure(failure ?? lost())
        }
        if let ticket, let token {
            ticket.lane.ended(BulkOutcome(index: ticket.index, token: token, result: result))
        } else {
            unsafe continuation.take()?.resume(returning: result.map { Acceptance($0, answer) })
        }
    }
}

/// The progress of a push, with times.
///
/// It has no reference-counted properties, so the compiler can prove exclusive access to it, which each push needs
/// often.
struct PushProgress {
    /// The state of a push.
    enum Place: Equatable {
        case nowhere
        case waiting
        case onWire(PoolMachine.ConnectionID)
        /// The push waits for its timestamp before the first attempt.
        case delayed
        case backingOff
        case settled
    }

    private(set) var place = Place.nowhere
    private(set) var since = MonotonicTime.zero
    private(set) var timing = SendTiming()
    var deadline = MonotonicTime.zero
    /// The number of times the push was sent on a connection.
    var attempts = 0
    /// The number of retries that the policy permitted.
    var retries = 0
    /// The number of earlier attempts that were sent and not answered.
    var unknownTries = 0
    /// The number of times that a server certainly did not process the push.
    var timesUnprocessed = 0
    /// The number of failed connection attempts while the push waited.
    var failedConnects = 0
    /// The index among the pushes in flight on the same connection.
    var index = 0
    /// Whether the push is assigned to a connection, and waits for a provider token.
    var isHeldBack = false

    /// Whether the caller cancelled the push before the pool received it.
    var isCancelled = false

    var isSettled: Bool { place == .settled }

    mutating func move(to next: Place, at now: MonotonicTime) {
        timing.add(now.nanoseconds - since.nanoseconds, in: place)
        place = next
        since = now
    }
}
