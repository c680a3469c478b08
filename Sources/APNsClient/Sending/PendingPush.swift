internal import APNs
internal import Wire

/// One push on its way: what is to be sent, who waits for it, and how far it has come.
///
/// It is `@unchecked Sendable` because its caller makes it, hands it to the pool's loop once and never reads or writes
/// it again; from then on only that loop does. A cancellation passes the reference on to the loop and looks at nothing.
@safe final class PendingPush: @unchecked Sendable {
    let id: APNsID
    /// What is to be sent, but for the provider token, which the connection adds.
    private enum Request {
        case written(HTTPFields)
        /// Written when it goes out: while it waits, and for an answer, the fields would only take room.
        case device(DeviceToken, RequestWriter.Template)
    }

    private let request: Request
    /// Whom it belongs to, when it is one of many that nobody waits for by itself.
    let ticket: BulkTicket?
    let body: [UInt8]
    let limits: SendLimits

    /// What the pool decides by.
    var progress = PushProgress()
    /// Its stream, while one is open.
    var stream: HTTP2Stream?
    /// When the provider token it went out with was issued.
    var tokenIssuedAt: Int64?
    /// Unchecked, since `settle` takes it away when it uses it: that no one is told twice needs no second proof.
    private var continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>?

    init(id: APNsID, fields: HTTPFields, body: [UInt8], limits: SendLimits) {
        self.id = id
        request = .written(fields)
        self.body = body
        self.limits = limits
        ticket = nil
    }

    /// A push to a device.
    init(
        to token: DeviceToken,
        id: APNsID,
        template: RequestWriter.Template,
        body: [UInt8],
        limits: SendLimits,
        ticket: BulkTicket? = nil
    ) {
        self.id = id
        request = .device(token, template)
        self.body = body
        self.limits = limits
        self.ticket = ticket
    }

    /// What goes out; `text` is memory for what has to be put together.
    func fields(using text: inout [UInt8]) -> HTTPFields {
        switch request {
        case .written(let fields): fields
        case .device(let token, let template): template.push(to: token, id: id, using: &text)
        }
    }

    /// Gives it the caller that waits.
    func wait(with continuation: UnsafeContinuation<Result<Acceptance, APNsError>, Never>) {
        unsafe self.continuation = continuation
    }

    /// Tells the caller how it ended.
    func settle(_ result: Result<Acceptance, APNsError>) {
        if let ticket {
            ticket.lane.settled(ticket, result.map { PushReceipt($0, id: id) })
        } else {
            unsafe continuation.take()?.resume(returning: result)
        }
    }
}

/// How long a push may take and how often it may be tried.
struct SendLimits {
    var retry = RetryPolicy.standard
    /// Whether it has priority 10, which is also what APNs takes a missing priority for.
    var isUrgent = true
    /// Bound on everything together, from the call to the answer.
    var timeout = Duration.seconds(60)
}

/// How far a push has come, and when.
struct PushProgress {
    /// Where a push is.
    enum Place: Equatable {
        case nowhere
        case waiting
        case onWire(PoolMachine.ConnectionID)
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
    /// How the last try ended, for when there is no time for another.
    var lastError: APNsError?

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
