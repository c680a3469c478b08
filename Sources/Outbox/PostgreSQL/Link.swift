internal import PostgreSQL
internal import Wire

/// One connection to the database, with whoever waits for its answers; lives on its loop.
final class Link {
    typealias Completion = (Result<Rows, PostgreSQLError>) -> Void

    private let session: Session
    private let loop: EventLoop
    private var watcher: SocketWatcher?
    private var waiting: [Completion] = []
    private var willFlush = false
    /// Told when there is something to be heard (`NOTIFY`).
    var onNotice: () -> Void = {}
    /// Told once, when the connection is no more.
    var onEnd: (PostgreSQLError) -> Void = { _ in }

    /// Takes over a session that waits for nothing.
    init(_ session: Session, on loop: EventLoop) throws(WireError) {
        self.session = session
        self.loop = loop
        // Who lets go of it without closing it shuts the loop down, which may still have heard something by then.
        watcher = try SocketWatcher(descriptor: session.descriptor, on: loop) { [weak self] _ in self?.becameReady() }
        watcher?.wait(for: .readable)
    }

    /// Asks the database; what is asked in one turn of the loop goes in one write.
    func ask(_ sql: String, _ parameters: [Parameter], _ completion: @escaping Completion) {
        guard watcher != nil else { return completion(.failure(.disconnected("the connection was closed"))) }
        waiting.append(completion)
        do throws(PostgreSQLError) {
            try session.ask(sql, parameters)
        } catch {
            return end(error)
        }
        guard !willFlush else { return }
        willFlush = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    /// Lets go of the connection; whoever waits is told that it was lost.
    func close() {
        end(.disconnected("the connection was closed"))
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
                let completion = waiting.removeFirst()
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

    private func end(_ error: PostgreSQLError) {
        guard let watcher else { return }
        watcher.close()
        self.watcher = nil
        let waiting = self.waiting
        self.waiting = []
        for completion in waiting { completion(.failure(error)) }
        onEnd(error)
    }
}
