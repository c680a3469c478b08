internal import APNs
internal import Synchronization

/// Carries out what ``BulkMachine`` decides: passes devices from their source to the lanes, and outcomes from the lanes
/// to their reader.
///
/// It knows the source's error as any error: as a generic class it would spend more on types than on pushes.
final class BulkTransfer: Sendable {
    /// What a reader of outcomes finds.
    private enum Finding {
        case outcome(BulkOutcome)
        case failure(any Error)
        case end
        case nothingYet
    }

    private struct State {
        var machine: BulkMachine
        var outcomes = RequestQueue<BulkOutcome>()
        /// What ended the source, until somebody has been told.
        var failure: (any Error)?
        var source: Task<Void, Never>?
        var isStarted = false
        var sourceReader: CheckedContinuation<BulkMachine.Grant?, Never>?
        var outcomeReaders: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let lanes: [BulkLane]
    private let readSource: @Sendable (BulkTransfer) async -> Void
    /// Where the source is read; nil for the default pool.
    private let executor: (any TaskExecutor)?

    init(
        _ machine: BulkMachine,
        lanes: [BulkLane],
        executor: (any TaskExecutor)?,
        readSource: @escaping @Sendable (BulkTransfer) async -> Void
    ) {
        state = Mutex(State(machine: machine))
        self.lanes = lanes
        self.executor = executor
        self.readSource = readSource
        for lane in lanes { lane.receiver = self }
    }

    // MARK: The source

    /// Hands every device of the source to a lane, as fast as they have room.
    func read<Source: AsyncSequence>(_ source: Source) async where Source.Element == Recipient {
        var devices = source.makeAsyncIterator()
        while let grant = await nextGrant() {
            for offset in 0..<grant.count {
                do throws(Source.Failure) {
                    guard !Task.isCancelled, let recipient = try await devices.next(isolation: nil) else {
                        sourceEnded(unused: grant.count - offset, of: grant, nil)
                        return
                    }
                    lanes[grant.lane].add(recipient, index: grant.first + offset)
                } catch {
                    sourceEnded(unused: grant.count - offset, of: grant, error)
                    return
                }
            }
        }
    }

    /// The same without a suspension for each device, which would cost more than all the rest.
    func read<Source: Sequence>(_ source: Source, as recipient: (Source.Element) -> Recipient) async {
        var devices = source.makeIterator()
        while let grant = await nextGrant() {
            for offset in 0..<grant.count {
                guard !Task.isCancelled, let device = devices.next() else {
                    sourceEnded(unused: grant.count - offset, of: grant, nil)
                    return
                }
                lanes[grant.lane].add(recipient(device), index: grant.first + offset)
            }
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
            // Whoever stops the sending interrupts the source, and expects no failure of it.
            if !state.machine.isStopping { state.failure = failure }
            state.machine.sourceEnded(unused: unused, of: grant)
            return []
        }
    }

    // MARK: Outcomes

    /// Takes the outcomes of a lane.
    func deliver(_ outcomes: [BulkOutcome], from lane: Int) {
        carryOut { state in
            for outcome in outcomes { state.outcomes.append(outcome) }
            state.machine.settled(outcomes.count, on: lane)
            return []
        }
    }

    /// The next outcome; nil when every device that was read has had its own.
    func next() async throws -> BulkOutcome? {
        if Task.isCancelled { stop() }
        while true {
            switch find() {
            case .outcome(let outcome): return outcome
            case .failure(let failure): throw failure
            case .end: return nil
            case .nothingYet: await waitForOutcomes()
            }
        }
    }

    private func find() -> Finding {
        var finding = Finding.nothingYet
        carryOut { state in
            if let outcome = state.outcomes.popFirst() {
                finding = .outcome(outcome)
                return state.machine.outcomeRead().map { [$0] } ?? []
            }
            guard state.machine.isSettled else { return [] }
            finding = state.failure.take().map { .failure($0) } ?? .end
            return []
        }
        return finding
    }

    private func waitForOutcomes() async {
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

    // MARK: Beginning and ending

    private func start() {
        state.withLock { state in
            guard !state.isStarted else { return }
            state.isStarted = true
            let readSource = readSource
            state.source = Task(executorPreference: executor) { await readSource(self) }
        }
    }

    /// Reads no more devices and takes back what has not gone out; what has is answered, and its outcome delivered.
    func stop() {
        carryOut { state in
            if !state.isStarted {
                state.isStarted = true
                state.machine.endBeforeBeginning()
            }
            return state.machine.stopped()
        }
    }

    // MARK: Orders

    /// Lets the machine hear of something and does what it orders.
    private func carryOut(_ hear: (inout sending State) -> [BulkMachine.Order]) {
        var readers: [CheckedContinuation<Void, Never>] = []
        var sourceReader: CheckedContinuation<BulkMachine.Grant?, Never>?
        var source: Task<Void, Never>?
        let orders = state.withLock { state in
            let orders = hear(&state)
            if !orders.isEmpty {
                if orders.contains(where: \.isForSourceReader) { sourceReader = state.sourceReader.take() }
                source = state.source
            }
            if !state.outcomeReaders.isEmpty, !state.outcomes.isEmpty || state.machine.isSettled {
                swap(&readers, &state.outcomeReaders)
            }
            return orders
        }
        for order in orders {
            switch order {
            case .read(let grant): sourceReader?.resume(returning: grant)
            case .endReading: sourceReader?.resume(returning: nil)
            case .takeBack:
                source?.cancel()
                for lane in lanes { lane.stop() }
            }
        }
        for reader in readers { reader.resume() }
    }
}
