// SPDX-License-Identifier: Apache-2.0

internal import MartletHTTPServer
internal import MartletOutbox
internal import Synchronization

/// The number of reads and changes of the outbox for callers that are under way, which has a limit.
///
/// While the store does not answer, calls remain under way after their callers have got an error.
final class OutboxCalls: Sendable {
    /// The maximum number of calls under way.
    static let limit = 5_000

    private let count = Mutex(0)

    /// Begins a call; returns false while too many are under way.
    func begin() -> Bool {
        count.withLock { count in
            guard count < OutboxCalls.limit else { return false }
            count += 1
            return true
        }
    }

    /// Ends a call.
    func end() {
        count.withLock { $0 -= 1 }
    }
}

extension RelayContext {
    /// Reads from the outbox for a caller, which gets an error if the store does not answer in the time for a commit.
    ///
    /// - Parameter body: One read, which continues after its caller has got an error.
    /// - Returns: The result, or the error that the store has not answered in time.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(OutboxError) -> Value
    ) async -> Result<Value, OutboxError> {
        await call(body)
    }

    /// Changes the outbox for a caller, which gets an error after the same time as for a read.
    ///
    /// - Parameters:
    ///   - remedy: The clause that tells how to find out whether the change was made.
    ///   - body: One change and what follows from it, which continue after the caller has got an error.
    /// - Returns: The result.
    /// - Throws: ``OutboxError``; with the remedy when the change may have been made.
    func change<Value: Sendable>(
        remedy: String,
        _ body: @escaping @Sendable () async throws(OutboxError) -> Value
    ) async throws(OutboxError) -> Value {
        do throws(OutboxError) {
            return try await call(body).get()
        } catch {
            guard error.isOutcomeUnknown else { throw error }
            let message = "\(error), so it is not known whether the change was made: \(remedy)"
            throw OutboxError(error.kind, message, isOutcomeUnknown: true, remedy: remedy)
        }
    }

    private func call<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(OutboxError) -> Value
    ) async -> Result<Value, OutboxError> {
        guard calls.begin() else {
            return .failure(OutboxError(.unavailable, "too many requests wait for the \(store): try again later"))
        }
        let start = now
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, OutboxError>, Never>) in
            let first = FirstResult(continuation)
            let timeout = Task {
                try? await Task.sleep(for: .milliseconds(configuration.loadLimits.answerTime))
                first.resume(returning: .failure(stallError(since: start)))
            }
            Task {
                let result: Result<Value, OutboxError>
                do throws(OutboxError) {
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                calls.end()
                first.resume(returning: result)
                timeout.cancel()
            }
        }
    }

    /// Reads from the outbox for a caller, as ``read(_:)``, while no other long read of the caller is under way.
    ///
    /// The time limit includes the wait for the caller's other reads.
    func readAlone<Value: Sendable>(
        for caller: String,
        _ body: @escaping @Sendable () async throws(OutboxError) -> Value
    ) async -> Result<Value, OutboxError> {
        let start = ContinuousClock.now
        return await read { () async throws(OutboxError) -> Value in
            await longReads.begin(of: caller)
            defer { longReads.end(of: caller) }
            // After that time the caller has got an error, so reads that are still awaited go first.
            guard ContinuousClock.now - start < .milliseconds(configuration.loadLimits.answerTime) else {
                throw stallError(since: now)
            }
            return try await body()
        }
    }
}

extension RelayParts {
    /// Returns the result of one read of the outbox; an error of the outbox is a problem with status 503, and so is a
    /// store that does not answer in time.
    func read<Value: Sendable>(
        _ body: @autoclosure @escaping @Sendable () async throws(OutboxError) -> Value
    ) async throws(APIProblem) -> Value {
        let context = await server.context
        return try await RelayAPI.outboxCall(await context.read(body).get())
    }

    /// Returns the result of one change of the outbox, as ``read(_:)`` does; the problem of a store that does not
    /// answer has the remedy.
    func change<Value: Sendable>(
        _ body: @autoclosure @escaping @Sendable () async throws(OutboxError) -> Value,
        remedy: String
    ) async throws(APIProblem) -> Value {
        let context = await server.context
        return try await RelayAPI.outboxCall(await context.change(remedy: remedy, body))
    }
}

/// A continuation that the first of several results resumes.
final class FirstResult<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation = Mutex(continuation)
    }

    func resume(returning result: Value) {
        continuation.withLock { $0.take() }?.resume(returning: result)
    }
}
