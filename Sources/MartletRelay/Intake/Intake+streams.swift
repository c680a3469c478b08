// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// The event streams and the batches of callers.
extension Intake {
    /// Returns the events about a caller's pushes, after the last event that its client has seen, or from now on.
    ///
    /// - Throws: ``APIProblem`` when too many streams are open, or the caller replays stored events too often.
    func listen(for caller: Callers.Caller, after lastID: String?) throws(APIProblem) -> OutcomeStream {
        guard events.hasRoom(for: caller.name) else {
            throw APIProblem(429, "too many event streams are open; close one, or retry later", retryAfter: 30)
        }
        let replay = events.replay(after: lastID)
        // A short replay costs no more than another request.
        if replay.count > OutcomeEvents.replayPieceLimit,
            let seconds = replays.take(for: caller.name, at: context.now)
        {
            throw APIProblem(
                429,
                "this key replays stored events too often; keep its event streams open, or retry later",
                retryAfter: seconds
            )
        }
        let (number, further) = events.listen(for: caller) { [weak self, loop] number in
            loop.execute { [weak self] in self?.assumeIsolated { $0.events.remove(number) } }
        }
        return OutcomeStream(intake: self, listener: number, replay: replay, further: further)
    }

    /// Opens a batch of a caller; it is closed when the returned value is released.
    ///
    /// - Throws: ``APIProblem`` when the caller has too many open batches.
    func openBatch(for caller: Callers.Caller) throws(APIProblem) -> OpenBatch {
        guard openBatches.open(for: caller.name) else {
            throw APIProblem(
                429,
                "\(OpenBatches.limitPerCaller) batches of this key are open already; end one, or retry later",
                retryAfter: 5
            )
        }
        return OpenBatch { [weak self, loop, name = caller.name] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.openBatches.close(for: name) } }
        }
    }
}
