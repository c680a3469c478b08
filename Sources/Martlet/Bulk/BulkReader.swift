// SPDX-License-Identifier: Apache-2.0

/// The reader of a transfer's outcomes, which takes all outcomes that were delivered together, so that a loop over them
/// needs no lock and no suspension for each.
///
/// When the reader is released, which happens at the end of the loop, it stops the sending and returns the outcomes
/// that it has not read.
final class BulkReader {
    private let transfer: BulkTransfer
    private var outcomes: [BulkOutcome] = []
    private var position = 0
    /// The number of outcomes that were read and not reported to the transfer.
    private var unreported = 0

    init(_ transfer: BulkTransfer) {
        self.transfer = transfer
    }

    deinit {
        report()
        if position < outcomes.count { transfer.giveBack(Array(outcomes[position...])) }
        transfer.stop()
    }

    /// Returns the next available outcome; nil when there is none.
    func next() -> BulkOutcome? {
        guard position < outcomes.count else { return nil }
        position += 1
        unreported += 1
        if unreported == transfer.readingShare { report() }
        return outcomes[position - 1]
    }

    /// Waits for the next outcome when none is available; returns nil when every device that was read has had its
    /// outcome.
    func waitForNext(isolation actor: isolated (any Actor)?) async throws -> BulkOutcome? {
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

    /// Reports the outcomes that were read, and whether the reading task is cancelled; in batches, because each call
    /// costs time.
    private func report() {
        if Task.isCancelled { transfer.stop() }
        guard unreported > 0 else { return }
        transfer.outcomesRead(unreported)
        unreported = 0
    }
}
