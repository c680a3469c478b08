// SPDX-License-Identifier: Apache-2.0

/// The error of a ticket or an answer of a relay that did not arrive in time.
struct RequestTimeout: Error, CustomStringConvertible {
    /// The maximum time for a ticket and for an answer.
    private static let time = Duration.seconds(60)

    var description: String { "no result within \(RequestTimeout.time.components.seconds) seconds" }

    /// Returns the result of an operation, which is cancelled after ``time``.
    static func bounded<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await Task.sleep(for: time)
                throw RequestTimeout()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw RequestTimeout() }
            return value
        }
    }
}
