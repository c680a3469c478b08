internal import APNs
internal import Wire

/// One push on its way: what is to be sent and who waits for it.
///
/// It is `@unchecked Sendable` because its caller makes it, hands it to the connection's loop once and never touches
/// it again; from then on only that loop does.
@safe final class PendingPush: @unchecked Sendable {
    let id: APNsID
    /// What is to be sent; the connection that it goes out on adds its provider token.
    var fields: HTTPFields
    let body: [UInt8]

    /// When it fails for want of an answer.
    var deadline = MonotonicTime.zero
    /// Its stream, while one is open.
    var stream: HTTP2Stream?
    /// Its place among the pushes in flight.
    var place = 0
    /// When the provider token it went out with was issued.
    var tokenIssuedAt: Int64?
    /// Unchecked, since `settle` takes it away when it uses it: that no one is told twice needs no second proof.
    private var continuation: UnsafeContinuation<Result<PushReceipt, APNsError>, Never>?
    private var isCancelled = false

    init(id: APNsID, fields: HTTPFields, body: [UInt8]) {
        self.id = id
        self.fields = fields
        self.body = body
    }

    /// Whether its caller has had an answer.
    var isSettled: Bool { unsafe continuation == nil }

    /// Gives it the caller that waits.
    func wait(with continuation: UnsafeContinuation<Result<PushReceipt, APNsError>, Never>) {
        unsafe self.continuation = continuation
    }

    /// Tells the caller how it ended; only the first time counts.
    func settle(_ result: Result<PushReceipt, APNsError>) {
        unsafe continuation.take()?.resume(returning: result)
    }

    /// Tells the caller that it failed; only the first time counts.
    func fail(_ code: APNsError.Code, _ description: String, mayHaveBeenProcessed: Bool = false) {
        settle(
            .failure(
                APNsError(code, id: id, description: description, mayHaveBeenProcessed: mayHaveBeenProcessed)
            )
        )
    }
}
