/// Decides how sending to many proceeds, as a struct without I/O: facts in, orders out.
///
/// Each device takes one of a fixed number of places when it is read, and gives it back when its outcome has been read.
/// That one number is the bound on memory and the back-pressure in both directions: who reads outcomes slowly, and a
/// wire that is slow, slow down the reading of devices.
///
/// ```
///   read, on a grant ──▶ outstanding on a lane ──▶ unread ──▶ gone
/// ```
///
/// A lane is one event loop's part of the work. Devices are read by grants, each for the lane that has least to do.
struct BulkMachine {
    /// What the driver is to do.
    enum Order: Equatable {
        /// Let whoever reads the devices read so many more.
        case read(Grant)
        /// Let whoever reads the devices read no more.
        case endReading
        /// Take back what has not gone out.
        case takeBack

        /// Whether whoever reads the devices waits for it.
        var isForSourceReader: Bool { self != .takeBack }
    }

    /// Leave to read some devices and hand them to a lane.
    struct Grant: Equatable {
        var lane: Int
        /// The place of the first of them among all.
        var first: Int
        var count: Int
    }

    /// A grant is no larger, so that the lanes stay even.
    static let grantLimit = 64
    /// Enough to wake somebody for.
    private static let batchLimit = 512

    let window: Int
    /// Devices that were granted to each lane and are not settled.
    private(set) var outstanding: [Int]
    /// Outcomes that nobody has read.
    private(set) var unread = 0
    private(set) var granted = 0
    /// Whether the reader of devices waits for a grant.
    private(set) var isReaderWaiting = false
    /// Whether there are no more devices to be read.
    private(set) var isSourceEnded = false
    private(set) var isStopping = false

    init(window: Int, lanes: Int) {
        self.window = max(1, window)
        outstanding = Array(repeating: 0, count: max(1, lanes))
    }

    /// How many places have to be free before devices are read again, and how many outcomes are delivered together: to
    /// wake somebody for each single one would cost more than to send it.
    var batch: Int { min((window - 1) / 4 + 1, BulkMachine.batchLimit) }

    /// How many outcomes may be read before this has to be told.
    var readingShare: Int { min(batch, BulkMachine.grantLimit) }

    /// How many more devices may be on their way.
    var room: Int { window - outstanding.reduce(0, +) - unread }

    /// Whether each device that was read is settled, and none will be read.
    var isSettled: Bool { isSourceEnded && outstanding.allSatisfy { $0 == 0 } }

    /// Whether that, and every outcome has been read.
    var isFinished: Bool { isSettled && unread == 0 }

    // MARK: Facts

    /// Whoever reads the devices wants to go on.
    mutating func readerReady() -> Order? {
        isReaderWaiting = true
        return nextGrant(atLeast: 1)
    }

    /// There are no more devices; of the last grant so many were not used.
    mutating func sourceEnded(unused: Int, of grant: Grant) {
        isSourceEnded = true
        isReaderWaiting = false
        outstanding[grant.lane] -= unused
        granted -= unused
    }

    /// Pushes of a lane have ended.
    mutating func settled(_ count: Int, on lane: Int) {
        outstanding[lane] -= count
        unread += count
    }

    /// Somebody has read some outcomes.
    mutating func outcomesRead(_ count: Int) -> Order? {
        unread -= count
        return nextGrant(atLeast: batch)
    }

    /// Nobody wants more to be sent.
    mutating func stopped() -> [Order] {
        guard !isStopping, !isFinished else { return [] }
        isStopping = true
        guard isReaderWaiting else { return [.takeBack] }
        isReaderWaiting = false
        isSourceEnded = true
        return [.takeBack, .endReading]
    }

    /// Nobody has wanted anything, and nobody will.
    mutating func endBeforeBeginning() {
        isSourceEnded = true
    }

    // MARK: Decisions

    private mutating func nextGrant(atLeast least: Int) -> Order? {
        guard isReaderWaiting else { return nil }
        guard !isStopping else {
            isReaderWaiting = false
            isSourceEnded = true
            return .endReading
        }
        let room = room
        guard room >= least, let lane = outstanding.indices.min(by: { outstanding[$0] < outstanding[$1] }) else {
            return nil
        }
        isReaderWaiting = false
        let grant = Grant(lane: lane, first: granted, count: min(room, BulkMachine.grantLimit))
        granted += grant.count
        outstanding[lane] += grant.count
        return .read(grant)
    }
}
