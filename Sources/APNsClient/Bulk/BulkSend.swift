/// The outcomes of sending to many devices, as they come in: what ``PushClient`` gives for a sequence of tokens.
///
/// Nothing is sent before the first outcome is asked for. Each device that was read from its source has exactly one
/// outcome, in the order of the answers.
///
/// Leaving the loop, ``stop()``, and cancelling the task that reads all stop the sending in order: no more devices are
/// read, pushes that have not gone out are taken back and end with the code `cancelled`, and those that have are
/// answered. A loop that is begun afterwards gets the outcomes that are left, so that the account stays exact.
public struct BulkSend<Failure: Error>: AsyncSequence, Sendable {
    /// What became of one push.
    public typealias Element = BulkOutcome

    let transfer: BulkTransfer

    /// Reads the outcomes one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: BulkReader

        /// The next outcome; nil when there are no more.
        public mutating func next() async throws(Failure) -> BulkOutcome? {
            try await next(isolation: nil)
        }

        /// The next outcome; nil when there are no more.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> BulkOutcome? {
            if let outcome = reader.next() { return outcome }
            do {
                return try await reader.nextToCome(isolation: actor)
            } catch let failure as Failure {
                throw failure
            } catch {
                preconditionFailure("the source can only fail with what it says")
            }
        }
    }

    /// Part of `AsyncSequence`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: BulkReader(transfer))
    }

    /// Sends no more: reads no more devices, and takes back what has not gone out.
    public func stop() {
        transfer.stop()
    }

    /// Sends to all devices and keeps count, and of the failures more than that.
    ///
    /// - Returns: What came of it.
    /// - Throws: What the source of devices throws, when everything that was read from it has ended.
    public func report() async throws(Failure) -> BulkReport {
        var report = BulkReport()
        var outcomes = makeAsyncIterator()
        while let outcome = try await outcomes.next() {
            report.count(outcome)
        }
        return report
    }
}
