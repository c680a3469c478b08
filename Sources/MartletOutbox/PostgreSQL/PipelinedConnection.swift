// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL
internal import MartletTransport

/// A pipelined connection to the database with the callers that wait for its results; used on its event loop only.
final class PipelinedConnection {
    typealias Completion = (Result<Rows, PostgreSQLError>) -> Void

    /// A statement that waits for its result.
    private struct PendingStatement {
        var sentAt: MonotonicTime
        var completion: Completion
    }

    private let session: Session
    private let loop: EventLoop
    /// The maximum time to wait for the next result before the connection is closed.
    private let resultTimeout: Duration
    private var watcher: SocketWatcher?
    private var waiting: [PendingStatement] = []
    private var lastResultAt: MonotonicTime
    private var deadline: LoopTimer?
    private var willFlush = false
    /// A callback for notifications (`NOTIFY`).
    var onNotification: () -> Void = {}
    /// A callback that is called once, when the connection is closed or lost.
    var onEnd: (PostgreSQLError) -> Void = { _ in }
    var serverProcess: Int64 { session.serverProcess }

    /// Creates a connection that owns a session without open statements.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - loop: The event loop of the connection.
    ///   - resultTimeout: The maximum time to wait for the next result before the connection is closed.
    /// - Throws: ``TransportError`` when the event loop cannot monitor the socket.
    init(_ session: Session, on loop: EventLoop, resultTimeout: Duration) throws(TransportError) {
        self.session = session
        self.loop = loop
        self.resultTimeout = resultTimeout
        lastResultAt = loop.now
        // Shutting the event loop down releases the connection without `close()`, and an event may have arrived by
        // then.
        watcher = try SocketWatcher(descriptor: session.descriptor, on: loop) { [weak self] _ in self?.becameReady() }
        watcher?.wait(for: .readable)
    }

    /// Sends a statement; all statements of one turn of the event loop are sent in one write.
    func send(_ sql: String, _ parameters: [Parameter], _ completion: @escaping Completion) {
        guard watcher != nil else { return completion(.failure(.disconnected("the connection was closed"))) }
        waiting.append(PendingStatement(sentAt: loop.now, completion: completion))
        do throws(PostgreSQLError) {
            try session.send(sql, parameters)
        } catch {
            return end(error)
        }
        watchDeadline()
        guard !willFlush else { return }
        willFlush = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    /// Closes the connection; every statement without a result fails with the error.
    func close(_ error: PostgreSQLError = .disconnected("the connection was closed")) {
        end(error)
    }

    private func flush() {
        willFlush = false
        guard let watcher else { return }
        do throws(PostgreSQLError) {
            watcher.wait(for: try session.flush() ? [.readable, .writable] : .readable)
        } catch {
            end(error)
        }
    }

    private func becameReady() {
        do throws(PostgreSQLError) {
            try session.receive()
            while let result = try session.nextResult(), !waiting.isEmpty {
                let completion = waiting.removeFirst().completion
                lastResultAt = loop.now
                switch result {
                case .rows(let rows): completion(.success(rows))
                case .failed(let error): completion(.failure(error))
                }
            }
            var hasNotification = false
            while session.nextNotification() != nil { hasNotification = true }
            if hasNotification { onNotification() }
            flush()
        } catch {
            end(error)
        }
    }

    /// Closes the connection when the next result takes too long, because a server that hangs keeps its sockets open.
    private func watchDeadline() {
        guard deadline == nil, let time = nextDeadline else { return }
        deadline = loop.schedule(after: time.duration(since: loop.now)) { [weak self] in
            guard let self else { return }
            deadline = nil
            guard let time = nextDeadline, time <= loop.now else { return watchDeadline() }
            end(.noAnswer(for: resultTimeout))
        }
    }

    /// The deadline of the next result; nil when no statement waits.
    private var nextDeadline: MonotonicTime? {
        guard watcher != nil, let first = waiting.first else { return nil }
        return max(first.sentAt, lastResultAt).advanced(by: resultTimeout)
    }

    private func end(_ error: PostgreSQLError) {
        guard let watcher else { return }
        watcher.close()
        self.watcher = nil
        deadline?.cancel()
        let waiting = self.waiting
        self.waiting = []
        for statement in waiting { statement.completion(.failure(error)) }
        onEnd(error)
    }
}
