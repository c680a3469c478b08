// SPDX-License-Identifier: Apache-2.0

/// The outcomes of a bulk send as they arrive, returned by ``PushClient`` for a sequence of tokens.
///
/// Nothing is sent before the first outcome is requested. Each device that was read from its source has exactly one
/// outcome, in the order of the responses.
///
/// Leaving the loop, ``stop()``, and cancelling the reading task all stop the sending in order: no more devices are
/// read, pushes that have not been sent are taken back and end with the code `cancelled`, and the client waits for the
/// responses to the others. A loop that starts afterwards gets the remaining outcomes, so that none is lost.
public struct BulkSend<Failure: Error>: AsyncSequence, Sendable {
    /// The result of one push.
    public typealias Element = BulkOutcome

    let transfer: BulkTransfer

    /// An iterator over the outcomes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: BulkReader

        /// Returns the next outcome; nil when there are no more.
        public mutating func next() async throws(Failure) -> BulkOutcome? {
            try await next(isolation: nil)
        }

        /// Returns the next outcome; nil when there are no more.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> BulkOutcome? {
            if let outcome = reader.next() { return outcome }
            do {
                return try await reader.waitForNext(isolation: actor)
            } catch let failure as Failure {
                throw failure
            } catch {
                preconditionFailure("the source can only fail with what it says")
            }
        }
    }

    /// Creates an iterator; required by `AsyncSequence`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: BulkReader(transfer))
    }

    /// Whether the server cannot be reached, or loses every connection without an answer, so that further devices would
    /// only fail.
    package var isServerUnresponsive: Bool { transfer.isServerUnresponsive }

    /// Stops the sending: reads no more devices, and cancels pushes that have not been sent.
    public func stop() {
        transfer.stop()
    }

    /// Sends to all devices, counts the accepted pushes and collects the failures.
    ///
    /// - Returns: The report.
    /// - Throws: The error of the source of devices, when everything that was read from it has an outcome.
    public func report() async throws(Failure) -> BulkReport {
        var report = BulkReport()
        var outcomes = makeAsyncIterator()
        while let outcome = try await outcomes.next() {
            report.count(outcome)
        }
        return report
    }
}
