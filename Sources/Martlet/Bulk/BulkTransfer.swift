// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import Synchronization

/// The driver of ``BulkMachine``, which passes devices from their source to the lanes, and outcomes from the lanes to
/// their reader.
///
/// The source's error is type-erased, because a generic class would spend more time on type metadata than on pushes.
final class BulkTransfer: Sendable {
    /// The result of a request for outcomes.
    enum Finding {
        case outcomes([BulkOutcome])
        case failure(any Error)
        case end
        case nothingYet
    }

    private struct State {
        var machine: BulkMachine
        var outcomes = Deque<[BulkOutcome]>()
        /// The error that ended the source, until it has been returned.
        var failure: (any Error)?
        var source: Task<Void, Never>?
        var isStarted = false
        var sourceReader: CheckedContinuation<BulkMachine.Grant?, Never>?
        var outcomeReaders: [CheckedContinuation<Void, Never>] = []
    }

    /// The number of outcomes that may be read before ``outcomesRead(_:)`` has to be called.
    let readingShare: Int
    private let state: Mutex<State>
    private let lanes: [BulkLane]
    private let readSource: @Sendable (BulkTransfer) async -> Void
    /// The executor on which the source is read; nil for the default executor.
    private let executor: (any TaskExecutor)?

    init(
        _ machine: BulkMachine,
        lanes: [BulkLane],
        executor: (any TaskExecutor)?,
        readSource: @escaping @Sendable (BulkTransfer) async -> Void
    ) {
        readingShare = machine.readingShare
        state = Mutex(State(machine: machine))
        self.lanes = lanes
        self.executor = executor
        self.readSource = readSource
        for lane in lanes { lane.receiver = self }
    }

    // MARK: The source

    /// Passes every device of the source to a lane, as fast as grants are available.
    func read<Source: AsyncSequence>(_ source: Source) async where Source.Element == Recipient {
        var devices = source.makeAsyncIterator()
        while let grant = await nextGrant() {
            for offset in 0..<grant.count {
                do throws(Source.Failure) {
                    guard !Task.isCancelled, let recipient = try await devices.next(isolation: nil) else {
                        return sourceEnded(unused: grant.count - offset, of: grant, nil)
                    }
                    var items = [BulkLane.Item(recipient: recipient, index: grant.first + offset)]
                    lanes[grant.lane].add(&items)
                } catch {
                    return sourceEnded(unused: grant.count - offset, of: grant, error)
                }
            }
        }
    }

    /// Passes every device of a synchronous source to a lane; the devices of a grant are passed together.
    func read<Source: Sequence>(_ source: SingleUse<Source>, as recipient: (Source.Element) -> Recipient) async {
        guard var devices = source.take()?.makeIterator() else { return }
        var items: [BulkLane.Item] = []
        while let grant = await nextGrant() {
            let isCancelled = Task.isCancelled
            while items.count < grant.count, !isCancelled, let device = devices.next() {
                items.append(BulkLane.Item(recipient: recipient(device), index: grant.first + items.count))
            }
            let unused = grant.count - items.count
            lanes[grant.lane].add(&items)
            guard unused == 0 else { return sourceEnded(unused: unused, of: grant, nil) }
        }
    }

    private func nextGrant() async -> BulkMachine.Grant? {
        await withCheckedContinuation { continuation in
            carryOut { state in
                state.sourceReader = continuation
                return state.machine.readerReady().map { [$0] } ?? []
            }
        }
    }

    private func sourceEnded(unused: Int, of grant: BulkMachine.Grant, _ failure: (any Error)?) {
        carryOut { state in
            // A request to stop interrupts the source, so an error of the source is ignored.
            if !state.machine.isStopping { state.failure = failure }
            state.machine.sourceEnded(unused: unused, of: grant)
            return []
        }
    }

    // MARK: Outcomes

    func deliver(_ outcomes: [BulkOutcome], from lane: Int) {
        let delivery = BulkMachine.Delivery(outcomes)
        carryOut { state in
            state.outcomes.append(outcomes)
            state.machine.settled(delivery, on: lane)
            return []
        }
    }

    /// Whether the server cannot be reached, or loses every connection without an answer.
    var isServerUnresponsive: Bool { state.withLock { $0.machine.isServerUnresponsive } }

    /// Returns the next outcomes that have been delivered.
    func takeOutcomes() -> Finding {
        state.withLock { state in
            if let outcomes = state.outcomes.popFirst() { return .outcomes(outcomes) }
            guard state.machine.isSettled else { return .nothingYet }
            return state.failure.take().map { .failure($0) } ?? .end
        }
    }

    /// Records that this many more outcomes were read.
    func outcomesRead(_ count: Int) {
        carryOut { state in state.machine.outcomesRead(count).map { [$0] } ?? [] }
    }

    /// Returns outcomes that were taken and not read to the queue.
    func giveBack(_ outcomes: [BulkOutcome]) {
        carryOut { state in
            state.outcomes.prepend(outcomes)
            return []
        }
    }

    /// Waits until ``takeOutcomes()`` has a result.
    func waitForOutcomes(isolation actor: isolated (any Actor)? = #isolation) async {
        start()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                carryOut { state in
                    state.outcomeReaders.append(continuation)
                    return []
                }
            }
        } onCancel: {
            stop()
        }
    }

    // MARK: Start and stop

    private func start() {
        state.withLock { state in
            guard !state.isStarted else { return }
            state.isStarted = true
            let readSource = readSource
            state.source = Task(executorPreference: executor) { await readSource(self) }
        }
    }

    /// Stops reading devices and cancels pushes that have not been sent; the others are answered and have outcomes.
    func stop() {
        carryOut { state in
            if !state.isStarted {
                state.isStarted = true
                state.machine.endBeforeBeginning()
            }
            return state.machine.stopped()
        }
    }

    // MARK: Actions

    private func carryOut(_ event: (inout sending State) -> [BulkMachine.Action]) {
        var readers: [CheckedContinuation<Void, Never>] = []
        var sourceReader: CheckedContinuation<BulkMachine.Grant?, Never>?
        var source: Task<Void, Never>?
        let actions = state.withLock { state in
            let actions = event(&state)
            if !actions.isEmpty {
                if actions.contains(where: \.isForSourceReader) { sourceReader = state.sourceReader.take() }
                source = state.source
            }
            if !state.outcomeReaders.isEmpty, !state.outcomes.isEmpty || state.machine.isSettled {
                swap(&readers, &state.outcomeReaders)
            }
            return actions
        }
        for action in actions {
            switch action {
            case .read(let grant): sourceReader?.resume(returning: grant)
            case .endReading: sourceReader?.resume(returning: nil)
            case .cancelUnsent:
                source?.cancel()
                for lane in lanes { lane.stop() }
            }
        }
        for reader in readers { reader.resume() }
    }
}

extension BulkMachine.Delivery {
    fileprivate init(_ outcomes: [BulkOutcome]) {
        count = outcomes.count
        for outcome in outcomes {
            switch outcome.error?.outcome {
            case nil, .answered: (isAnswered, notSent, hasLoss) = (true, 0, false)
            case .unknown: hasLoss = true
            case .neverSent where outcome.error?.code == .invalid: break
            case .neverSent, .unprocessed: notSent += 1
            }
        }
    }
}
