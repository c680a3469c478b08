internal import PostgreSQL
internal import Wire

/// One connection to the database and the callers that wait for its answers; lives on its loop.
final class Link {
    typealias Completion = (Result<Rows, PostgreSQLError>) -> Void

    /// A question without an answer.
    private struct Question {
        var askedAt: MonotonicTime
        var completion: Completion
    }

    private let session: Session
    private let loop: EventLoop
    /// The time that the server has for the next answer before the connection is dropped.
    private let answerTime: Duration
    private var watcher: SocketWatcher?
    private var waiting: [Question] = []
    private var answeredAt: MonotonicTime
    private var deadline: LoopTimer?
    private var willFlush = false
    /// Called when a notification has arrived (`NOTIFY`).
    var onNotice: () -> Void = {}
    /// Called once, when the connection is closed or lost.
    var onEnd: (PostgreSQLError) -> Void = { _ in }
    /// The number of the server's process for this connection.
    var serverProcess: Int64 { session.serverProcess }

    /// Takes over a session without open questions.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - loop: Where it lives.
    ///   - answerTime: How long the server may take for the next answer before the connection is dropped.
    /// - Throws: ``WireError`` when the loop cannot wait for the socket.
    init(_ session: Session, on loop: EventLoop, answerTime: Duration) throws(WireError) {
        self.session = session
        self.loop = loop
        self.answerTime = answerTime
        answeredAt = loop.now
        // Shutting the loop down releases the link without `close()`, and an event may have arrived by then.
        watcher = try SocketWatcher(descriptor: session.descriptor, on: loop) { [weak self] _ in self?.becameReady() }
        watcher?.wait(for: .readable)
    }

    /// Asks the database; the questions of one turn of the loop go in one write.
    func ask(_ sql: String, _ parameters: [Parameter], _ completion: @escaping Completion) {
        guard watcher != nil else { return completion(.failure(.disconnected("the connection was closed"))) }
        waiting.append(Question(askedAt: loop.now, completion: completion))
        do throws(PostgreSQLError) {
            try session.ask(sql, parameters)
        } catch {
            return end(error)
        }
        watchAnswers()
        guard !willFlush else { return }
        willFlush = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    /// Closes the connection; every open question fails with the error.
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
            while let answer = try session.nextAnswer(), !waiting.isEmpty {
                let completion = waiting.removeFirst().completion
                answeredAt = loop.now
                switch answer {
                case .rows(let rows): completion(.success(rows))
                case .failed(let error): completion(.failure(error))
                }
            }
            var hasNotice = false
            while session.nextNotice() != nil { hasNotice = true }
            if hasNotice { onNotice() }
            flush()
        } catch {
            end(error)
        }
    }

    /// Drops the connection when the next answer takes too long: a server that hangs keeps its sockets open.
    private func watchAnswers() {
        guard deadline == nil, let time = nextDeadline else { return }
        deadline = loop.schedule(after: time.duration(since: loop.now)) { [weak self] in
            guard let self else { return }
            deadline = nil
            guard let time = nextDeadline, time <= loop.now else { return watchAnswers() }
            end(.noAnswer(for: answerTime))
        }
    }

    /// When the next answer is due; nil when none is.
    private var nextDeadline: MonotonicTime? {
        guard watcher != nil, let first = waiting.first else { return nil }
        return max(first.askedAt, answeredAt).advanced(by: answerTime)
    }

    private func end(_ error: PostgreSQLError) {
        guard let watcher else { return }
        watcher.close()
        self.watcher = nil
        deadline?.cancel()
        let waiting = self.waiting
        self.waiting = []
        for question in waiting { question.completion(.failure(error)) }
        onEnd(error)
    }
}
