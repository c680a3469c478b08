internal import APNs
internal import Synchronization

/// Writes lines in their order, on no thread that has pushes to serve.
///
/// A reader that is slow costs lines, never time: of those that wait for it the oldest go, and it is told how many.
package final class LogOutput: Sendable {
    private static let backlogLimit = 10_000

    private let lines: AsyncStream<String>.Continuation
    private let writer: Task<Void, Never>
    private let dropped: Counter

    /// What writer and output share.
    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    /// An output.
    ///
    /// - Parameter direct: Writes a line, and may take its time.
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
                    direct.warning("lines were dropped, since nobody read them in time", ["count": .whole(count)])
                }
                direct.write(line)
            }
        }
    }

    /// Has a line written, soon.
    package func add(_ line: String) {
        if case .dropped = lines.yield(line) { dropped.count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Returns when everything is written; what comes later is not.
    package func finish() async {
        lines.finish()
        await writer.value
    }
}
