/// Reads the outcomes of a transfer: takes as many as have been delivered together, so that a loop over them meets no
/// lock and no suspension for each.
///
/// When it goes, which is when the loop is left, the sending is stopped, and what it has not read it gives back.
final class BulkReader {
    private let transfer: BulkTransfer
    private var outcomes: [BulkOutcome] = []
    private var position = 0
    /// How many were read of which the transfer has not heard.
    private var unreported = 0

    init(_ transfer: BulkTransfer) {
        self.transfer = transfer
    }

    deinit {
        report()
        if position < outcomes.count { transfer.giveBack(Array(outcomes[position...])) }
        transfer.stop()
    }

    /// The next outcome that is at hand; nil when there is none.
    func next() -> BulkOutcome? {
        guard position < outcomes.count else { return nil }
        position += 1
        unreported += 1
        if unreported == transfer.readingShare { report() }
        return outcomes[position - 1]
    }

    /// The next outcome, when there is none at hand; nil when every device that was read has had its own.
    func nextToCome(isolation actor: isolated (any Actor)?) async throws -> BulkOutcome? {
        report()
        while true {
            switch transfer.takeOutcomes() {
            case .outcomes(let taken):
                (outcomes, position) = (taken, 0)
                return next()
            case .failure(let failure): throw failure
            case .end: return nil
            case .nothingYet: await transfer.waitForOutcomes(isolation: actor)
            }
        }
    }

    /// Tells what was read, and whether the reading task is cancelled: for many at once, since each costs.
    private func report() {
        if Task.isCancelled { transfer.stop() }
        guard unreported > 0 else { return }
        transfer.outcomesRead(unreported)
        unreported = 0
    }
}
