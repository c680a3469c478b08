internal import CLibuv
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One thread that waits for sockets and timers through libuv and runs Swift jobs in between.
///
/// `Wire` moves bytes: sockets, TLS, HTTP/2 and HTTP/1.1, all on event loops, and knows nothing of pushes. Its unsafe
/// pointers stay within it.
///
/// A loop is a `SerialExecutor`, so an actor can live on it and needs no lock against its own socket; a
/// ``LoopTaskExecutor`` has whole tasks run there without changing threads. Each turn of the loop runs the jobs that
/// came in and then, once, whatever was registered with ``atEndOfTurn(_:)``: that is where connections flush what they
/// have to say, so that many sends share one system call.
///
/// It is `@unchecked Sendable` because `bound` is touched only on the loop's own thread, which every entry to it
/// checks, and everything else is immutable, atomic or behind the mutex.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// What a loop can be asked to run.
    private enum Work {
        /// A piece of an actor.
        case job(UnownedJob)
        /// A piece of a task that no actor owns.
        case task(UnownedJob, LoopTaskExecutor)
        case closure(@Sendable () -> Void)
    }

    /// What other threads may touch.
    private struct Inbox {
        var work: [Work] = []
        var isWakePending = false
        var isStopping = false
        /// Whether libuv's loop is gone or going, and must not be woken any more.
        var isClosed = false
        /// Whether a thread runs what has come since then.
        var hasThread = true
    }

    /// What only the loop's thread may touch.
    private final class Bound {
        var work: [Work] = []
        var running: [Work] = []
        var endOfTurn: [() -> Void] = []
        var endingTurn: [() -> Void] = []
        var timers = TimeHeap<LoopTimer>()
        @exclusivity(unchecked) var turnTime = MonotonicTime.zero
        /// Whether the loop has waited for events since `turnTime` was read.
        @exclusivity(unchecked) var hasWaited = false
        var hasAlarmRung = false
    }

    /// Rounds of jobs in one turn before sockets get their chance again.
    private static let roundsPerTurn = 16

    private let inbox = Mutex(Inbox())
    private let bound = Bound()
    private let threadID = Atomic<UInt>(0)
    private let clock: ManualClock?

    let loop: UnsafeMutablePointer<uv_loop_t>
    private let wakeUp = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let beforePoll = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    private let afterPoll = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    private let alarm = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let noWait = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)

    /// Where connections of this loop read into, one after the other: no more at a time than stays in the processor's
    /// nearest cache, with all that it touches, until it has been dealt with.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 * 1024, alignment: 64)

    /// Starts the thread; it runs until ``shutdown()``.
    ///
    /// - Parameter clock: A clock that a test moves by hand; by default the system's monotonic clock.
    /// - Throws: ``WireError`` of kind `.system` when the system gives no descriptor or thread.
    package init(clock: ManualClock? = nil) throws(WireError) {
        self.clock = clock
        loop = .allocate(capacity: 1)
        var status = uv_loop_init(loop)
        guard status == 0 else { throw WireError(.system, "cannot make an event loop: \(uvMessage(status))") }
        status = uv_async_init(loop, wakeUp) { _ in }
        guard status == 0 else {
            uv_loop_close(loop)
            throw WireError(.system, "cannot make an event loop: \(uvMessage(status))")
        }
        uv_prepare_init(loop, beforePoll)
        uv_check_init(loop, afterPoll)
        uv_timer_init(loop, alarm)
        uv_idle_init(loop, noWait)
        let context = Unmanaged.passRetained(self).toOpaque()
        beforePoll.pointee.data = context
        afterPoll.pointee.data = context
        alarm.pointee.data = context
        readClock()

        guard startThread({ $0.run() }) else {
            Unmanaged<EventLoop>.fromOpaque(context).release()
            stop()
            uv_run(loop, UV_RUN_DEFAULT)
            uv_loop_close(loop)
            throw WireError(.system, "cannot start a thread")
        }
        clock?.add(self)
    }

    /// Runs `body` on a thread of its own, which keeps this object alive; false when there is none to be had.
    private func startThread(_ body: @escaping (EventLoop) -> Void) -> Bool {
        let start = Unmanaged.passRetained(ThreadStart(loop: self, body: body)).toOpaque()
        var thread = uv_thread_t()
        let status = uv_thread_create(
            &thread,
            { context in
                guard let context else { return }
                let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
                blockSignals()
                start.body(start.loop)
            },
            start
        )
        guard status == 0 else {
            Unmanaged<ThreadStart>.fromOpaque(start).release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    deinit {
        loop.deallocate()
        readBuffer.deallocate()
        wakeUp.deallocate()
        beforePoll.deallocate()
        afterPoll.deallocate()
        alarm.deallocate()
        noWait.deallocate()
    }

    // MARK: From any thread

    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool {
        threadID.load(ordering: .relaxed) == currentThreadID()
    }

    /// Runs `body` on the loop, in order with the jobs given to it; from the loop itself, later in the same turn.
    package func execute(_ body: @escaping @Sendable () -> Void) {
        add(.closure(body))
    }

    /// Ends the thread after the work it already has, and does not wait for it: a name that is being looked up holds
    /// it for as long as the resolver takes.
    ///
    /// Whoever used the loop has to have closed its sockets. A job that comes later still runs, on a thread started
    /// for it, but sockets and timers are no more.
    package func shutdown() {
        clock?.remove(self)
        inbox.withLock { inbox in
            inbox.isStopping = true
            if !inbox.isClosed { uv_async_send(wakeUp) }
        }
    }

    /// Part of `SerialExecutor`.
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Runs a piece of a task that no actor owns.
    func enqueue(_ job: UnownedJob, of executor: LoopTaskExecutor) {
        add(.task(job, executor))
    }

    /// Part of `SerialExecutor`.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Part of `SerialExecutor`: lets an actor on this loop be entered from a callback without a hop.
    package func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    /// Part of `SerialExecutor`: a wrong thread is a mistake in this package and stops the program at once.
    package func checkIsolated() {
        precondition(isCurrent, "this must run on its event loop")
    }

    private func add(_ work: Work) {
        if isCurrent {
            bound.work.append(work)
            return
        }
        let needsThread = inbox.withLock { inbox in
            inbox.work.append(work)
            guard inbox.isClosed else {
                // With the lock held, so that the loop is not closed meanwhile.
                if !inbox.isWakePending { uv_async_send(wakeUp) }
                inbox.isWakePending = true
                return false
            }
            defer { inbox.hasThread = true }
            return !inbox.hasThread
        }
        if needsThread { _ = startThread { $0.runLateWork() } }
    }

    // MARK: On the loop

    /// The current time, read once between two waits for events.
    ///
    /// Callbacks of sockets run within libuv's wait, so the first of them to ask reads the clock: the time of the
    /// previous turn may be hours old on an idle loop.
    package var now: MonotonicTime {
        checkIsolated()
        if let clock { return clock.now }
        if bound.hasWaited { readClock() }
        return bound.turnTime
    }

    private func readClock() {
        bound.turnTime = MonotonicTime(nanoseconds: Int64(uv_hrtime()))
        bound.hasWaited = false
    }

    /// Calls `action` once this long from now, unless the timer is cancelled first.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: now.advanced(by: delay), action: action)
        bound.timers.insert(timer, due: timer.deadline)
        setAlarm()
        return timer
    }

    /// Calls `action` once, after the jobs of this turn and before the loop waits again.
    package func atEndOfTurn(_ action: @escaping () -> Void) {
        checkIsolated()
        bound.endOfTurn.append(action)
    }

    /// Fires what is due by the clock; a ``ManualClock`` calls it after moving.
    func fireTimers() {
        while let timer = bound.timers.removeDue(by: now) {
            timer.fire()
        }
        setAlarm()
    }

    /// What has arrived counts before what is late: timers fire after the sockets have been looked at, so that a
    /// process which was held up does not take its own pause for its peer's.
    private func polled() {
        readClock()
        guard bound.hasAlarmRung else { return }
        bound.hasAlarmRung = false
        uv_idle_stop(noWait)
        fireTimers()
    }

    private func setAlarm() {
        guard clock == nil else { return }
        guard let deadline = bound.timers.earliest else {
            uv_timer_stop(alarm)
            return
        }
        // libuv counts in milliseconds from the time of the turn: round up, so that an alarm is never early.
        // Callers choose delays, so a deadline may be any number: below 0 the subtraction could overflow.
        let wait = max(0, max(0, deadline.nanoseconds) - Int64(uv_hrtime()))
        uv_update_time(loop)
        uv_timer_start(
            alarm,
            { handle in
                guard let loop = EventLoop.from(handle?.pointee.data) else { return }
                loop.bound.hasAlarmRung = true
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
        threadID.store(currentThreadID(), ordering: .relaxed)
        uv_prepare_start(beforePoll) { handle in EventLoop.from(handle?.pointee.data)?.finishTurn() }
        uv_check_start(afterPoll) { handle in EventLoop.from(handle?.pointee.data)?.polled() }
        uv_run(loop, UV_RUN_DEFAULT)
        uv_loop_close(loop)
        runLateWork()
        // Taken when the handles were set up.
        Unmanaged.passUnretained(self).release()
    }

    /// Runs what came after the loop had closed, one after the other as before.
    private func runLateWork() {
        threadID.store(currentThreadID(), ordering: .relaxed)
        while true {
            let isDone = inbox.withLock { inbox in
                bound.work.append(contentsOf: inbox.work)
                inbox.work = []
                guard bound.work.isEmpty else { return false }
                inbox.hasThread = false
                threadID.store(0, ordering: .relaxed)
                return true
            }
            if isDone { return }
            runWork()
        }
    }

    private func runWork() {
        swap(&bound.work, &bound.running)
        for work in bound.running {
            switch work {
            case .job(let job):
                job.runSynchronously(on: asUnownedSerialExecutor())
            case .task(let job, let executor):
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            case .closure(let body):
                body()
            }
        }
        bound.running.removeAll(keepingCapacity: true)
        swap(&bound.endOfTurn, &bound.endingTurn)
        for action in bound.endingTurn { action() }
        bound.endingTurn.removeAll(keepingCapacity: true)
    }

    /// Runs jobs, then the writes they caused, then the jobs those caused, until nothing is left or others must
    /// have their turn.
    private func finishTurn() {
        for _ in 0..<EventLoop.roundsPerTurn {
            let isStopping = inbox.withLock { inbox in
                inbox.isWakePending = false
                bound.work.append(contentsOf: inbox.work)
                inbox.work.removeAll(keepingCapacity: true)
                return inbox.isStopping
            }
            guard !bound.work.isEmpty || !bound.endOfTurn.isEmpty else {
                if isStopping, close() { stop() }
                bound.hasWaited = true
                return
            }
            runWork()
        }
        bound.hasWaited = true
        uv_async_send(wakeUp)
    }

    /// From here on nobody wakes the loop; false when somebody has just done so.
    private func close() -> Bool {
        inbox.withLock { inbox in
            inbox.isClosed = inbox.work.isEmpty
            return inbox.isClosed
        }
    }

    /// Closes every handle the loop still has, after which `uv_run` returns.
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

/// A peer that vanished must be an error of the write, not a signal that ends the process; and signals that the
/// program waits for belong to its own threads.
private func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPROF] { sigdelset(&all, signal) }
    pthread_sigmask(SIG_BLOCK, &all, nil)
}

/// What a new thread of a loop begins with.
private final class ThreadStart {
    let loop: EventLoop
    let body: (EventLoop) -> Void

    init(loop: EventLoop, body: @escaping (EventLoop) -> Void) {
        self.loop = loop
        self.body = body
    }
}

/// The calling thread, as a number that can be compared.
private func currentThreadID() -> UInt {
    #if canImport(Glibc)
        UInt(pthread_self())
    #else
        UInt(bitPattern: pthread_self())
    #endif
}

/// libuv's words for one of its (negative) status codes.
func uvMessage(_ status: CInt) -> String {
    uv_strerror(status).map { String(cString: $0) } ?? "error \(status)"
}
