internal import APNs
internal import Synchronization
internal import Wire

/// One event loop's part of sending to many: makes pushes of the devices that come in, hands them to the loop's pool,
/// and gathers their outcomes.
///
/// It is `@unchecked Sendable` because only its loop touches what can change, save the mailbox, which has a lock.
@safe final class BulkLane: @unchecked Sendable {
    /// A device on its way to the lane.
    struct Letter: Sendable {
        let recipient: Recipient
        let index: Int
    }

    /// The longest that an outcome is held back, for others to be delivered with it.
    private static let delayLimit = Duration.milliseconds(1)

    let number: Int
    /// Outcomes that are not held back any longer: to wake their reader for each would cost more than to send.
    private let batch: Int
    let pool: PushPool
    private let mailbox = Mutex<[Letter]>([])
    /// Who takes the outcomes, set once, before the first device comes; nobody wants them when it is gone.
    weak var receiver: BulkTransfer?
    private var writer: BulkWriter
    /// Memory for the next list of letters, and of pushes.
    private var letters: [Letter] = []
    private var sparePushes: [PendingPush] = []
    private var outcomes: [BulkOutcome] = []
    private var alarm: LoopTimer?
    private var isStopped = false

    init(_ number: Int, of pool: PushPool, batch: Int, writer: BulkWriter) {
        self.number = number
        self.batch = batch
        self.pool = pool
        self.writer = writer
    }

    // MARK: From any thread

    /// Takes devices to send to, and leaves an empty list.
    func add(_ letters: inout [Letter]) {
        guard !letters.isEmpty else { return }
        let isFirst = mailbox.withLock { mailbox in
            let isFirst = mailbox.isEmpty
            if isFirst { swap(&mailbox, &letters) } else { mailbox.append(contentsOf: letters) }
            return isFirst
        }
        letters.removeAll(keepingCapacity: true)
        if isFirst { pool.loop.execute { self.emptyMailbox() } }
    }

    /// Takes back what has not gone out, and what comes later.
    func stop() {
        pool.loop.execute {
            self.isStopped = true
            self.pool.assumeIsolated { $0.takeBack(from: self) }
        }
    }

    // MARK: On the loop

    private func emptyMailbox() {
        mailbox.withLock { swap(&$0, &letters) }
        var pushes: [PendingPush] = []
        swap(&pushes, &sparePushes)
        for letter in letters {
            do throws(APNsError) {
                guard !isStopped else { throw APNsError(.cancelled, description: "the sending was stopped") }
                let ticket = BulkTicket(lane: self, index: letter.index)
                pushes.append(try writer.push(for: letter.recipient, ticket: ticket))
            } catch {
                ended(BulkOutcome(index: letter.index, token: letter.recipient.token, result: .failure(error)))
            }
        }
        letters.removeAll(keepingCapacity: true)
        pool.assumeIsolated { $0.submit(pushes) }
        pushes.removeAll(keepingCapacity: true)
        swap(&pushes, &sparePushes)
    }

    /// A push has ended.
    func ended(_ outcome: consuming BulkOutcome) {
        outcomes.append(outcome)
        if outcomes.count == batch {
            pool.loop.atEndOfTurn { self.deliverOutcomes() }
        } else if outcomes.count == 1 {
            alarm = pool.loop.schedule(after: BulkLane.delayLimit) { self.deliverOutcomes() }
        }
    }

    private func deliverOutcomes() {
        alarm?.cancel()
        alarm = nil
        guard !outcomes.isEmpty else { return }
        receiver?.deliver(outcomes, from: number)
        // With room for those that come in the turn that fills a batch, which are as many as last time.
        let count = outcomes.count
        outcomes = []
        outcomes.reserveCapacity(count)
    }
}

/// Whom a push of many belongs to.
struct BulkTicket {
    let lane: BulkLane
    let index: Int
}
