internal import PostgreSQL
internal import Wire

/// One connection to the database, with whoever waits for its answers; lives on its loop.
final class Link {
    typealias Completion = (Result<Rows, PostgreSQLError>) -> Void

    /// How long the database may leave questions without an answer, before the connection counts as lost.
    private static let patience = Duration.seconds(60)

    private let session: Session
    private let loop: EventLoop
    private var watcher: SocketWatcher?
    private var waiting: [Completion] = []
    private var answered = 0
    private var willFlush = false
    private var isWatched = false
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
        watchPatience()
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
                answered += 1
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

    /// Sees to it that nobody waits for ever.
    private func watchPatience() {
        guard !isWatched, !waiting.isEmpty, watcher != nil else { return }
        isWatched = true
        let before = answered
        loop.schedule(after: Link.patience) { [weak self] in
            guard let self else { return }
            isWatched = false
            guard answered == before, !waiting.isEmpty else { return watchPatience() }
            end(.disconnected("the database has not answered for \(Link.patience.components.seconds) seconds"))
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
