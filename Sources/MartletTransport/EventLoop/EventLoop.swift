// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv
internal import Synchronization

/// A thread that waits for sockets and timers with libuv and runs Swift jobs in between.
///
/// The module `MartletTransport` transports bytes over sockets, TLS, HTTP/2 and HTTP/1.1, all on event loops; it
/// contains nothing about push notifications. Its unsafe pointers stay within the module.
///
/// A loop is a `SerialExecutor`, so an actor can run on it and needs no lock to use its sockets. A ``LoopTaskExecutor``
/// runs whole tasks on the loop without switching threads. Each turn of the loop runs the queued jobs and then, once,
/// the actions that were registered with ``atEndOfTurn(_:)``. Connections flush their output in such an action, so that
/// many sends share one system call.
///
/// It is `@unchecked Sendable` because `confined` is accessed only on the loop's own thread, which every entry point
/// checks, and everything else is immutable, atomic or protected by the mutex.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// A unit of work for the loop.
    private enum Work {
        /// A job of an actor.
        case job(UnownedJob)
        /// A job of a task that runs outside of every actor.
        case task(UnownedJob, LoopTaskExecutor)
        case closure(@Sendable () -> Void)
    }

    /// State that any thread may access.
    private struct SharedState {
        var work: [Work] = []
        var isWakePending = false
        var isStopping = false
        /// Whether libuv's loop is closed or closing, and must not be woken any more.
        var isClosed = false
        /// Whether a thread runs the work that is added after the loop was closed.
        var hasThread = true
    }

    /// State that only the loop's thread may access.
    private final class ThreadState {
        var work: [Work] = []
        var running: [Work] = []
        var endOfTurn: [() -> Void] = []
        var endingTurn: [() -> Void] = []
        /// The actions to run after the loop has polled its sockets.
        var nextTurn: [() -> Void] = []
        /// The number of times that the loop has polled its sockets.
        @exclusivity(unchecked) var turn: UInt64 = 0
        var timers = TimeHeap<LoopTimer>()
        @exclusivity(unchecked) var turnTime = MonotonicTime.zero
        /// Whether the loop has waited for events since `turnTime` was read.
        @exclusivity(unchecked) var hasWaited = false
        var hasTimerFired = false
    }

    /// The maximum number of rounds of jobs in one turn before the loop polls its sockets again.
    private static let roundsPerTurn = 16
    /// The number of descriptors that a loop needs: libuv opens up to seven for the first one.
    private static let descriptorsPerLoop = 8
    /// The lock under which loops are created, so that two do not count on the same free descriptors.
    private static let creation = Mutex(())

    private let shared = Mutex(SharedState())
    private let confined = ThreadState()
    private let threadID = Atomic<UInt>(0)
    private let clock: ManualClock?

    let loop: UnsafeMutablePointer<uv_loop_t>
    private let wakeUp = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let beforePoll = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    private let afterPoll = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    private let wakeTimer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let noWait = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)

    /// The buffer into which the loop's connections read, one after the other.
    ///
    /// It is small so that the data stays in the processor's L1 cache until it has been processed.
    package let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 * 1024, alignment: 64)

    /// Starts the thread, which runs until ``shutdown()``.
    ///
    /// - Parameter clock: A clock that a test advances manually; by default the system's monotonic clock.
    /// - Throws: ``TransportError`` of kind `.system` when the system provides no descriptor or thread.
    package init(clock: ManualClock? = nil) throws(TransportError) {
        self.clock = clock
        loop = .allocate(capacity: 1)
        var status = EventLoop.initialize(loop)
        guard status == 0 else {
            let isFull = status == CInt(UV_EMFILE.rawValue)
            let advice = isFull ? "; raise the process's limit (ulimit -n, LimitNOFILE of systemd)" : ""
            throw TransportError(.system, "cannot create an event loop: \(uvMessage(status))\(advice)")
        }
        status = uv_async_init(loop, wakeUp) { _ in }
        guard status == 0 else {
            uv_loop_close(loop)
            throw TransportError(.system, "cannot create an event loop: \(uvMessage(status))")
        }
        uv_prepare_init(loop, beforePoll)
        uv_check_init(loop, afterPoll)
        uv_timer_init(loop, wakeTimer)
        uv_idle_init(loop, noWait)
        let context = Unmanaged.passRetained(self).toOpaque()
        beforePoll.pointee.data = context
        afterPoll.pointee.data = context
        wakeTimer.pointee.data = context
        readClock()

        guard LoopThread.start({ self.run() }) else {
            Unmanaged<EventLoop>.fromOpaque(context).release()
            stop()
            uv_run(loop, UV_RUN_DEFAULT)
            uv_loop_close(loop)
            throw TransportError(.system, "cannot start a thread")
        }
        clock?.add(self)
    }

    /// Initializes a loop of libuv if enough descriptors are free.
    ///
    /// Without them, libuv 1.44 ends the process, or returns an error and leaks a descriptor.
    private static func initialize(_ loop: UnsafeMutablePointer<uv_loop_t>) -> CInt {
        creation.withLock { _ in
            guard DescriptorLimit.hasRoom(for: descriptorsPerLoop) else { return CInt(UV_EMFILE.rawValue) }
            return ProcessExit.ifNotBegun { uv_loop_init(loop) } ?? CInt(UV_ECANCELED.rawValue)
        }
    }

    deinit {
        loop.deallocate()
        readBuffer.deallocate()
        wakeUp.deallocate()
        beforePoll.deallocate()
        afterPoll.deallocate()
        wakeTimer.deallocate()
        noWait.deallocate()
    }

    // MARK: From any thread

    /// Whether the current thread is the loop's thread.
    package var isCurrent: Bool {
        threadID.load(ordering: .relaxed) == LoopThread.currentID
    }

    /// Runs `body` on the loop, in order with the queued jobs; when called on the loop, later in the same turn.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        add(.closure(body))
    }

    /// Stops the thread after its queued work, without waiting for it: a pending name lookup delays the end until the
    /// resolver returns.
    ///
    /// The caller must have closed all sockets of the loop. A job that is added later still runs, on a thread started
    /// for it, but sockets and timers no longer work.
    package func shutdown() {
        clock?.remove(self)
        shared.withLock { shared in
            shared.isStopping = true
            if !shared.isClosed { uv_async_send(wakeUp) }
        }
    }

    /// Queues a job; required by `SerialExecutor`.
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Queues a job of a task that runs outside of every actor.
    func enqueue(_ job: UnownedJob, of executor: LoopTaskExecutor) {
        add(.task(job, executor))
    }

    /// Returns a reference to this executor; required by `SerialExecutor`.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Returns whether the current thread is the loop's, so that a callback can enter an actor of this loop without a
    /// hop; required by `SerialExecutor`.
    package func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    /// Stops the program when called on another thread, which is a bug in this package; required by `SerialExecutor`.
    package func checkIsolated() {
        precondition(isCurrent, "this must run on its event loop")
    }

    private func add(_ work: Work) {
        if isCurrent {
            confined.work.append(work)
            return
        }
        let needsThread = shared.withLock { shared in
            shared.work.append(work)
            guard shared.isClosed else {
                // The lock is held so that the loop cannot be closed before this call.
                if !shared.isWakePending { uv_async_send(wakeUp) }
                shared.isWakePending = true
                return false
            }
            defer { shared.hasThread = true }
            return !shared.hasThread
        }
        if needsThread { _ = LoopThread.start { self.runLateWork() } }
    }

    // MARK: On the loop

    /// The current time, read once between two waits for events.
    ///
    /// Callbacks of sockets run within libuv's wait, so the first of them to use the time reads the clock: on an idle
    /// loop the time of the previous turn may be hours old.
    package var now: MonotonicTime {
        checkIsolated()
        if let clock { return clock.now }
        if confined.hasWaited { readClock() }
        return confined.turnTime
    }

    private func readClock() {
        confined.turnTime = MonotonicTime(nanoseconds: Int64(uv_hrtime()))
        confined.hasWaited = false
    }

    /// Calls `action` once after this delay, unless the timer is cancelled first.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: now.advanced(by: delay), action: action)
        confined.timers.insert(timer, due: timer.deadline)
        setWakeTimer()
        return timer
    }

    /// Calls `action` once, after the jobs of this turn and before the loop waits again.
    package func atEndOfTurn(_ action: @escaping () -> Void) {
        checkIsolated()
        confined.endOfTurn.append(action)
    }

    /// Calls `action` once in the next turn, after the input that other sockets have received until then.
    package func atNextTurn(_ action: @escaping () -> Void) {
        checkIsolated()
        confined.nextTurn.append(action)
        uv_idle_start(noWait) { _ in }
    }

    /// The number of the current turn: it changes when the loop polls its sockets.
    var turn: UInt64 { confined.turn }

    /// Fires the timers that are due; ``ManualClock/advance(by:)`` calls this after it has advanced.
    func fireTimers() {
        while let timer = confined.timers.removeDue(by: now) {
            timer.fire()
        }
        setWakeTimer()
    }

    /// Fires due timers after the loop has polled.
    ///
    /// Socket input is handled before expired timers, so that a process that was suspended does not mistake its own
    /// pause for a timeout of its peer.
    private func polled() {
        readClock()
        confined.turn &+= 1
        guard confined.hasTimerFired || !confined.nextTurn.isEmpty else { return }
        uv_idle_stop(noWait)
        var actions: [() -> Void] = []
        swap(&actions, &confined.nextTurn)
        for action in actions { action() }
        guard confined.hasTimerFired else { return }
        confined.hasTimerFired = false
        fireTimers()
    }

    private func setWakeTimer() {
        guard clock == nil else { return }
        guard let deadline = confined.timers.earliest else {
            uv_timer_stop(wakeTimer)
            return
        }
        // libuv counts in milliseconds from the time of the turn: round up, so that the timer never fires early.
        // Callers choose delays, so a deadline may be any number: below 0 the subtraction could overflow.
        let wait = max(0, max(0, deadline.nanoseconds) - Int64(uv_hrtime()))
        uv_update_time(loop)
        uv_timer_start(
            wakeTimer,
            { handle in
                guard let loop = EventLoop.from(handle?.pointee.data) else { return }
                loop.confined.hasTimerFired = true
                uv_idle_start(loop.noWait) { _ in }
            },
            UInt64((wait + 999_999) / 1_000_000),
            0
        )
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> EventLoop? {
        context.map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    private func run() {
        threadID.store(LoopThread.currentID, ordering: .relaxed)
        uv_prepare_start(beforePoll) { handle in EventLoop.from(handle?.pointee.data)?.finishTurn() }
        uv_check_start(afterPoll) { handle in EventLoop.from(handle?.pointee.data)?.polled() }
        uv_run(loop, UV_RUN_DEFAULT)
        uv_loop_close(loop)
        runLateWork()
        // Balances `passRetained` in `init`.
        Unmanaged.passUnretained(self).release()
    }

    /// Runs work that was added after the loop had been closed, in order.
    private func runLateWork() {
        threadID.store(LoopThread.currentID, ordering: .relaxed)
        while true {
            let isDone = shared.withLock { shared in
                confined.work.append(contentsOf: shared.work)
                shared.work = []
                guard confined.work.isEmpty else { return false }
                shared.hasThread = false
                threadID.store(0, ordering: .relaxed)
                return true
            }
            if isDone { return }
            runWork()
        }
    }

    private func runWork() {
        swap(&confined.work, &confined.running)
        for work in confined.running {
            switch work {
            case .job(let job):
                job.runSynchronously(on: asUnownedSerialExecutor())
            case .task(let job, let executor):
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            case .closure(let body):
                body()
            }
        }
        confined.running.removeAll(keepingCapacity: true)
        swap(&confined.endOfTurn, &confined.endingTurn)
        for action in confined.endingTurn { action() }
        confined.endingTurn.removeAll(keepingCapacity: true)
    }

    /// Runs jobs and the end-of-turn actions that they register, repeatedly, until no work is left or the limit of
    /// rounds is reached.
    private func finishTurn() {
        for _ in 0..<EventLoop.roundsPerTurn {
            let isStopping = shared.withLock { shared in
                shared.isWakePending = false
                confined.work.append(contentsOf: shared.work)
                shared.work.removeAll(keepingCapacity: true)
                return shared.isStopping
            }
            guard !confined.work.isEmpty || !confined.endOfTurn.isEmpty else {
                if isStopping, close() { stop() }
                confined.hasWaited = true
                return
            }
            runWork()
        }
        confined.hasWaited = true
        uv_async_send(wakeUp)
    }

    /// Prevents further wake-ups of the loop; returns false when work has just been added.
    private func close() -> Bool {
        shared.withLock { shared in
            shared.isClosed = shared.work.isEmpty
            return shared.isClosed
        }
    }

    /// Closes every handle of the loop, after which `uv_run` returns.
    private func stop() {
        uv_walk(
            loop,
            { handle, _ in
                if uv_is_closing(handle) == 0 { uv_close(handle, nil) }
            },
            nil
        )
    }
}

/// Returns libuv's message for one of its (negative) status codes.
func uvMessage(_ status: CInt) -> String {
    uv_strerror(status).map { String(cString: $0) } ?? "error \(status)"
}
