// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct ProcessExitTests {
    @Test func `the first use of signals during an exit is refused`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            // Handlers run in reverse order: this one runs after that of the loop, as the destructors of libraries do.
            atexit { if ProcessExit.ifNotBegun({}) != nil { _exit(4) } }
            _ = try EventLoop()
            exit(3)
        }
    }

    @Test(arguments: 0..<10) func `a process exits while its loops begin to watch signals`(_: Int) async {
        await #expect(processExitsWith: .exitCode(3)) {
            for _ in 0..<8 {
                Task {
                    while true { _ = try await ServiceSignal.watch() }
                }
            }
            for _ in 0..<50 { _ = try await ServiceSignal.watch() }
            exit(3)
        }
    }

    @Test(arguments: 0..<10) func `a process exits while its loops look up names`(_: Int) async {
        await #expect(processExitsWith: .exitCode(3)) {
            let loops = try (0..<4).map { _ in try EventLoop() }
            for loop in loops { loop.execute { lookUp(.max, on: loop) {} } }
            let loop = try EventLoop()
            await withCheckedContinuation { done in
                loop.execute { lookUp(50, on: loop) { done.resume() } }
            }
            exit(3)
        }
    }
}

/// Looks up names one after the other, and calls `completion` after the last of them.
private func lookUp(_ count: Int, on loop: EventLoop, completion: @escaping @Sendable () -> Void) {
    guard count > 0 else { return completion() }
    Resolver.resolve("localhost", port: 1, on: loop) { _ in
        loop.execute { lookUp(count - 1, on: loop, completion: completion) }
    }
}
