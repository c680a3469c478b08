internal import APNs
internal import Wire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One push on its way: what is to be sent, who waits for it, and how far it has come.
///
/// It is `@unchecked Sendable` because its caller makes it, hands it to the pool's loop once and never reads or writes
/// it again; from then on only that loop does. A cancellation passes the reference on to the loop and looks at nothing.
@safe final class PendingPush: @unchecked Sendable {
    let id: APNsID
    let draft: PushDraft
    /// The device; nil when the draft says it all.
    let token: DeviceToken?
    /// Whom it belongs to, when it is one of many that nobody waits for by itself.
    let ticket: BulkTicket?

    /// What the pool decides by.
    var progress = PushProgress()
    /// How the last try ended, for when there is no time for another.
    var lastError: APNsError?
    /// Its stream, while one is open, and with the answer that accepts it until its caller has been told.
    var stream: HTTP2Stream?
    /// When the provider token it went out with was issued.
    var tokenIssuedAt: Date?
    /// Why it failed, once it is settled; nil when it was accepted.
    var failure: APNsError?
    /// Unchecked, since `settle` takes it away when it uses it: that no one is told twice needs no second proof.
    private var continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>?

    init(_ draft: PushDraft, id: APNsID, to token: DeviceToken? = nil, ticket: BulkTicket? = nil) {
        self.id = id
        self.draft = draft
        self.token = token
        self.ticket = ticket
    }

    var limits: SendLimits { draft.limits }

    /// The fields that go out, but for the provider token.
    var fields: HTTPFields { draft.fields(to: token, id: id) }

    /// Gives it the caller that waits.
    func wait(with continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>) {
        unsafe self.continuation = continuation
    }

    /// Tells the caller how it ended.
    func settle() {
        let answer = stream.take()
        let result: Result<PushReceipt, APNsError>
        if failure == nil, let answer {
            result = .success(PushReceipt(answer.fields, of: self))
        } else {
            // What was accepted has its answer; were it ever lost, nobody could tell what became of the push.
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

/// How far a push has come, and when.
///
/// It holds nothing that has to be let go: then the compiler can prove that accesses to it exclude each other, of which
/// a push has many.
struct PushProgress {
    /// Where a push is.
    enum Place: Equatable {
        case nowhere
        case waiting
        case onWire(PoolMachine.ConnectionID)
        /// It waits for its timestamp before the first try.
        case delayed
        case backingOff
        case settled
    }

    private(set) var place = Place.nowhere
    private(set) var since = MonotonicTime.zero
    private(set) var timing = SendTiming()
    var deadline = MonotonicTime.zero
    /// Times it was put onto a connection.
    var attempts = 0
    /// Tries that the policy granted after the first.
    var retries = 0
    /// Tries that were sent and not answered, before the last.
    var unknownTries = 0
    /// Times that a server provably left it alone.
    var timesUnprocessed = 0
    /// Connections that could not be opened while it waited.
    var failedConnects = 0
    /// Its place among the pushes on the same connection.
    var index = 0
    /// Whether it has a place on a connection, and waits there for a provider token.
    var isHeldBack = false

    /// Whether its caller went away before it came.
    var isCancelled = false

    var isSettled: Bool { place == .settled }

    mutating func move(to next: Place, at now: MonotonicTime) {
        timing.add(now.nanoseconds - since.nanoseconds, in: place)
        place = next
        since = now
    }
}
