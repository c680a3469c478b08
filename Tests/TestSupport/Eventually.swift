// SPDX-License-Identifier: Apache-2.0

/// The error of a condition that was not true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    /// The expected condition, in words.
    package let expected: String
    /// The time after which the wait ended.
    package let limit: Duration

    package var description: String {
        let seconds = limit / .seconds(1)
        let text = Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
        return "did not happen within \(text) s: \(expected)"
    }
}

/// Waits until a condition is true that no event announces.
///
/// - Parameters:
///   - expected: The expected condition in words, for the error.
///   - limit: A guard against a test that hangs: ten times what a busy machine needs.
///   - condition: Returns whether what is expected has happened. It is called again and again, by the caller's task.
/// - Throws: ``NeverHappened`` when the limit is reached, `CancellationError`, and errors of the condition.
package func eventually(
    _ expected: String,
    within limit: Duration = .seconds(300),
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    // Most conditions are true as soon as other tasks have had a turn.
    for _ in 0..<5 {
        if try await condition() { return }
        try Task.checkCancellation()
        await Task.yield()
    }
    // Then pauses leave the processor to the code under test.
    var pause = Duration.milliseconds(1)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(expected: expected, limit: limit) }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}
