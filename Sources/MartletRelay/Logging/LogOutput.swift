// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import Synchronization

/// An output that writes lines in order on a separate task, so that logging never blocks the processing of pushes.
///
/// When the reader is slow, the oldest waiting lines are dropped, and their number is logged.
package final class LogOutput: Sendable {
    private static let backlogLimit = 10_000

    private let lines: AsyncStream<String>.Continuation
    private let writer: Task<Void, Never>
    private let dropped: Counter

    /// The count that the writer and the output share.
    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    /// Creates an output.
    ///
    /// - Parameter direct: The logger that writes the lines; it may block.
    package init(through direct: Logger) {
        let (stream, lines) = AsyncStream.makeStream(
            of: String.self,
            bufferingPolicy: .bufferingNewest(LogOutput.backlogLimit)
        )
        let dropped = Counter()
        self.lines = lines
        self.dropped = dropped
        writer = Task.detached {
            for await line in stream {
                let count = dropped.count.exchange(0, ordering: .relaxed)
                if count > 0 {
                    direct.warning(.logLinesDropped, ["count": .whole(count)])
                }
                direct.write(line)
            }
        }
    }

    /// Queues a line for writing.
    package func add(_ line: String) {
        if case .dropped = lines.yield(line) { dropped.count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Waits until all queued lines are written; further lines are discarded.
    package func finish() async {
        lines.finish()
        await writer.value
    }
}
