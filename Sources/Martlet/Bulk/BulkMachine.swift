// SPDX-License-Identifier: Apache-2.0

/// The flow control of a bulk send, a struct without I/O: events in, actions out.
///
/// Each device takes one of a fixed number of slots when it is read, and frees it when its outcome has been read. This
/// number limits memory and is the back-pressure in both directions: a slow reader of outcomes and a slow network slow
/// down the reading of devices.
///
/// ```
///   read, on a grant ──▶ outstanding on a lane ──▶ unread ──▶ gone
/// ```
///
/// A lane is one event loop's part of the work. Devices are read by grants, each for the lane with the fewest
/// outstanding devices.
struct BulkMachine {
    /// An action for the driver.
    enum Action: Equatable {
        /// Let the reader of devices read this grant.
        case read(Grant)
        /// Let the reader of devices stop.
        case endReading
        /// Cancel the pushes that have not been sent.
        case cancelUnsent

        var isForSourceReader: Bool { self != .cancelUnsent }
    }

    /// The permission to read some devices and pass them to a lane.
    struct Grant: Equatable {
        var lane: Int
        /// The index of the first of them among all devices.
        var first: Int
        var count: Int
    }

    /// The maximum size of a grant, which keeps the lanes evenly loaded.
    static let grantLimit = 64
    private static let batchLimit = 512
    /// The number of consecutive devices that were not sent to, after which the server is unresponsive.
    static let notSentLimit = 1_000
    /// The number of consecutive deliveries with unanswered pushes, after which the server is unresponsive.
    ///
    /// A lost connection is one delivery, whatever the number of its pushes. The loss of all connections at once is
    /// therefore below this limit, and a connection to a server that recovers gets an answer.
    static let lossLimit = 10

    /// The evidence about the server in the outcomes of a delivery, in their order.
    struct Delivery: Equatable {
        var count = 0
        /// Whether the server has answered a push.
        var isAnswered = false
        /// The number of devices since the last answer that were not sent to.
        var notSent = 0
        /// Whether a push since the last answer was sent and not answered.
        var hasLoss = false
    }

    let window: Int
    /// The number of devices that were granted to each lane and have no outcome yet.
    private(set) var outstanding: [Int]
    /// The number of outcomes that have not been read.
    private(set) var unread = 0
    private(set) var granted = 0
    private(set) var isReaderWaiting = false
    /// Whether no more devices will be read.
    private(set) var isSourceEnded = false
    private(set) var isStopping = false
    private var notSentInARow = 0
    private var lossesInARow = 0

    /// Whether the server cannot be reached, or loses every connection without an answer.
    var isServerUnresponsive: Bool {
        notSentInARow >= BulkMachine.notSentLimit || lossesInARow >= BulkMachine.lossLimit
    }

    init(window: Int, lanes: Int) {
        self.window = max(1, window)
        outstanding = Array(repeating: 0, count: max(1, lanes))
    }

    /// The number of free slots from which on devices are read again, and of outcomes that are delivered together:
    /// waking a task for each single one would cost more than sending a push.
    var batch: Int { min((window - 1) / 4 + 1, BulkMachine.batchLimit) }

    /// The number of outcomes that may be read before ``outcomesRead(_:)`` has to be called.
    var readingShare: Int { min(batch, BulkMachine.grantLimit) }

    var freeSlots: Int { window - outstanding.reduce(0, +) - unread }

    /// Whether each device that was read has an outcome, and no more will be read.
    var isSettled: Bool { isSourceEnded && outstanding.allSatisfy { $0 == 0 } }

    /// Whether the send is settled and every outcome has been read.
    var isFinished: Bool { isSettled && unread == 0 }

    // MARK: Events

    /// Handles a request of the reader of devices for another grant.
    mutating func readerReady() -> Action? {
        isReaderWaiting = true
        return nextGrant(atLeast: 1)
    }

    /// Handles the end of the devices; `unused` devices of the last grant were not read.
    mutating func sourceEnded(unused: Int, of grant: Grant) {
        isSourceEnded = true
        isReaderWaiting = false
        outstanding[grant.lane] -= unused
        granted -= unused
    }

    /// Records outcomes of a lane's pushes.
    mutating func settled(_ delivery: Delivery, on lane: Int) {
        outstanding[lane] -= delivery.count
        unread += delivery.count
        if delivery.isAnswered { (notSentInARow, lossesInARow) = (0, 0) }
        notSentInARow += delivery.notSent
        if delivery.hasLoss { lossesInARow += 1 }
    }

    mutating func outcomesRead(_ count: Int) -> Action? {
        unread -= count
        return nextGrant(atLeast: batch)
    }

    /// Handles a request to stop sending.
    mutating func stopped() -> [Action] {
        guard !isStopping, !isFinished else { return [] }
        isStopping = true
        guard isReaderWaiting else { return [.cancelUnsent] }
        isReaderWaiting = false
        isSourceEnded = true
        return [.cancelUnsent, .endReading]
    }

    /// Ends a send that was stopped before its start.
    mutating func endBeforeBeginning() {
        isSourceEnded = true
    }

    // MARK: Decisions

    private mutating func nextGrant(atLeast least: Int) -> Action? {
        guard isReaderWaiting else { return nil }
        guard !isStopping else {
            isReaderWaiting = false
            isSourceEnded = true
            return .endReading
        }
        let free = freeSlots
        guard free >= least, let lane = outstanding.indices.min(by: { outstanding[$0] < outstanding[$1] }) else {
            return nil
        }
        isReaderWaiting = false
        let grant = Grant(lane: lane, first: granted, count: min(free, BulkMachine.grantLimit))
        granted += grant.count
        outstanding[lane] += grant.count
        return .read(grant)
    }
}
