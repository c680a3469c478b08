// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport
internal import Synchronization

/// One event loop's part of a bulk send: creates pushes for the devices that it receives, submits them to the loop's
/// pool, and collects their outcomes.
///
/// It is `@unchecked Sendable` because only its loop accesses mutable state, except for the mailbox, which has a lock.
@safe final class BulkLane: @unchecked Sendable {
    /// A device that is passed to the lane.
    struct Item: Sendable {
        let recipient: Recipient
        let index: Int
    }

    /// The maximum time for which an outcome is delayed so that it can be delivered together with others.
    private static let delayLimit = Duration.milliseconds(1)

    let number: Int
    /// The number of outcomes that are delivered immediately; waking the reader for each one would cost more than a
    /// push.
    private let batch: Int
    let pool: PushPool
    private let mailbox = Mutex<[Item]>([])
    /// The receiver of the outcomes, set once, before the first device arrives; when it is released, outcomes are
    /// dropped.
    weak var receiver: BulkTransfer?
    private var writer: BulkWriter
    /// Reusable storage for the next list of devices, and of pushes.
    private var items: [Item] = []
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

    /// Adds devices to send to, and empties the list.
    func add(_ items: inout [Item]) {
        guard !items.isEmpty else { return }
        let isFirst = mailbox.withLock { mailbox in
            let isFirst = mailbox.isEmpty
            if isFirst { swap(&mailbox, &items) } else { mailbox.append(contentsOf: items) }
            return isFirst
        }
        items.removeAll(keepingCapacity: true)
        if isFirst { pool.loop.execute { self.emptyMailbox() } }
    }

    /// Cancels pushes that have not been sent, and rejects devices that are added later.
    func stop() {
        pool.loop.execute {
            self.isStopped = true
            self.pool.assumeIsolated { $0.cancelUnsent(of: self) }
        }
    }

    // MARK: On the loop

    private func emptyMailbox() {
        mailbox.withLock { swap(&$0, &items) }
        var pushes: [PendingPush] = []
        swap(&pushes, &sparePushes)
        for item in items {
            do throws(APNsError) {
                guard !isStopped else { throw APNsError(.cancelled, description: "the bulk send was stopped") }
                let ticket = BulkTicket(lane: self, index: item.index)
                pushes.append(try writer.push(for: item.recipient, ticket: ticket))
            } catch {
                ended(BulkOutcome(index: item.index, token: item.recipient.token, result: .failure(error)))
            }
        }
        items.removeAll(keepingCapacity: true)
        pool.assumeIsolated { $0.submit(pushes) }
        pushes.removeAll(keepingCapacity: true)
        swap(&pushes, &sparePushes)
    }

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
        // Reserves capacity for the outcomes of the turn that fills a batch, which are about as many as last time.
        let count = outcomes.count
        outcomes = []
        outcomes.reserveCapacity(count)
    }
}

/// The lane and the index of a push in a bulk send.
struct BulkTicket {
    let lane: BulkLane
    let index: Int
}
