// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import MartletTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct EventLoopTests {
    @Test func `work runs on the loop in the order it was given`() async throws {
        let scope = try LoopScope()
        let order = Mutex<[Int]>([])
        for number in 0..<1_000 {
            scope.loop.execute { order.withLock { $0.append(number) } }
        }
        let isOnLoop = await scope.run { $0.isCurrent }
        #expect(isOnLoop)
        #expect(order.withLock { $0 } == Array(0..<1_000))
        #expect(!scope.loop.isCurrent)
    }

    @Test func `a task that prefers the loop runs there`() async throws {
        let scope = try LoopScope()
        let isOnLoop = await Task(executorPreference: LoopTaskExecutor(scope.loop)) { scope.loop.isCurrent }.value
        #expect(isOnLoop)
    }

    @Test func `a task of the loop calls a concurrent function without a hop`() async throws {
        let scope = try LoopScope()
        let order = Mutex<[String]>([])
        @concurrent func call() async { order.withLock { $0.append("call") } }
        await Task(executorPreference: LoopTaskExecutor(scope.loop)) {
            scope.loop.execute { order.withLock { $0.append("later") } }
            await call()
        }.value
        await scope.finishTurn()
        #expect(order.withLock { $0 } == ["call", "later"])
    }

    @Test func `work for the end of a turn runs once`() async throws {
        let scope = try LoopScope()
        let order = Mutex<[String]>([])
        await scope.run { loop in
            loop.atEndOfTurn { order.withLock { $0.append("end") } }
            loop.execute { order.withLock { $0.append("job") } }
        }
        await scope.finishTurn()
        await scope.finishTurn()
        #expect(order.withLock { $0 }.filter { $0 == "end" }.count == 1)
    }

    @Test func `timers fire in the order of their deadlines when the clock is moved`() async throws {
        let clock = ManualClock()
        let scope = try LoopScope(clock: clock)
        let fired = Mutex<[Int]>([])
        await scope.run { loop in
            for delay in [3, 1, 2, 5, 4] {
                loop.schedule(after: .seconds(delay)) { fired.withLock { $0.append(delay) } }
            }
            loop.schedule(after: .seconds(2)) { fired.withLock { $0.append(-1) } }.cancel()
        }
        #expect(fired.withLock { $0 } == [])
        await clock.advance(by: .milliseconds(999))
        #expect(fired.withLock { $0 } == [])
        await clock.advance(by: .milliseconds(1))
        #expect(fired.withLock { $0 } == [1])
        await clock.advance(by: .seconds(10))
        #expect(fired.withLock { $0 } == [1, 2, 3, 4, 5])
    }

    @Test func `a timer on the system's clock is never early`() async throws {
        let scope = try LoopScope()
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            scope.loop.execute {
                scope.loop.schedule(after: .milliseconds(20)) { continuation.resume() }
            }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }

    @Test func `the time is current when a socket's callback runs after an idle wait`() async throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { for end in [reader, writer] { close(end) } }
        let scope = try LoopScope()
        async let called = withCheckedThrowingContinuation { (result: CheckedContinuation<MonotonicTime, any Error>) in
            scope.loop.execute {
                do {
                    var watcher: SocketWatcher?
                    watcher = try SocketWatcher(descriptor: reader, on: scope.loop) { _ in
                        watcher?.close()
                        result.resume(returning: scope.loop.now)
                    }
                    watcher?.wait(for: .readable)
                } catch {
                    result.resume(throwing: error)
                }
            }
        }
        let other = try LoopScope()
        let written = await withCheckedContinuation { result in
            other.loop.execute {
                other.loop.schedule(after: .milliseconds(50)) {
                    result.resume(returning: other.loop.now)
                    write(writer, "x", 1)
                }
            }
        }
        #expect(try await called >= written)
    }

    @Test func `a timer that a timer schedules fires at its own time`()
        async throws
    {
        let clock = ManualClock()
        let scope = try LoopScope(clock: clock)
        let count = Mutex(0)
        await scope.run { loop in
            _ = loop.schedule(after: .seconds(1)) {
                count.withLock { $0 += 1 }
                loop.schedule(after: .seconds(1)) { count.withLock { $0 += 1 } }
            }
        }
        await clock.advance(by: .seconds(1))
        #expect(count.withLock { $0 } == 1)
        await clock.advance(by: .seconds(1))
        #expect(count.withLock { $0 } == 2)
    }

    @Test(arguments: [0, 1, 2, 3, 17, 100]) func `a time heap returns its elements in order`(count: Int) {
        var heap = TimeHeap<Int64>()
        let times = (0..<count).map { _ in Int64.random(in: 0..<50) }
        for time in times { heap.insert(time, due: MonotonicTime(nanoseconds: time)) }
        var taken: [Int64] = []
        while let time = heap.removeDue(by: MonotonicTime(nanoseconds: 100)) { taken.append(time) }
        #expect(taken == times.sorted())
    }

    @Test func `far deadlines do not overflow`() {
        let late = MonotonicTime(nanoseconds: .max - 5)
        #expect(late.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(late.advanced(by: .seconds(1)).nanoseconds == .max)
        #expect(MonotonicTime.zero.advanced(by: .milliseconds(1)).nanoseconds == 1_000_000)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [Int64.min, -1, 0])
    func `a timer whose deadline is long past fires at once`(seconds: Int64) async throws {
        let scope = try LoopScope()
        await withCheckedContinuation { fired in
            scope.loop.execute { scope.loop.schedule(after: .seconds(seconds)) { fired.resume() } }
        }
    }

    @Test func `the time between any two points is a duration`() {
        let (first, last) = (MonotonicTime(nanoseconds: .min), MonotonicTime.never)
        #expect(last.duration(since: first) == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
        #expect(first.duration(since: last) == .nanoseconds(Int64.min) - .nanoseconds(Int64.max))
    }

    @Test func `jobs after the shutdown run one after the other`() async throws {
        let loop = try EventLoop()
        loop.shutdown()
        let executor = LoopTaskExecutor(loop)
        let runs = Runs()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask(executorPreference: executor) {
                    #expect(loop.isCurrent)
                    runs.count.withLock { $0 += 1 }
                    await Task.yield()
                    runs.count.withLock { $0 += 1 }
                }
            }
        }
        #expect(runs.count.withLock { $0 } == 200)
    }

    private final class Runs: Sendable {
        let count = Mutex(0)
    }
}
