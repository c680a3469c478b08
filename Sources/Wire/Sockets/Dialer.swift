/// Opens a TCP connection to a host: resolves its name, tries every address as ``DialPlan`` says, and hands over the
/// first socket that connects; lives on its loop.
final class Dialer {
    /// One address being tried.
    private struct Attempt {
        var socket: Box<Socket>
        var watcher: SocketWatcher
    }

    private let host: String
    private let port: UInt16
    private let loop: EventLoop
    private var completion: ((Result<Box<Socket>, WireError>) -> Void)?
    private var admits: (SocketAddress) -> Bool = { _ in true }
    private var addresses: [SocketAddress] = []
    private var plan = DialPlan(addressCount: 0)
    private var attempts: [Int: Attempt] = [:]
    private var timer: LoopTimer?

    /// A dialer at rest.
    init(host: String, port: UInt16, on loop: EventLoop) {
        self.host = host
        self.port = port
        self.loop = loop
    }

    /// Begins; `completion` is called once, unless ``cancel()`` comes first.
    ///
    /// - Parameters:
    ///   - admits: Asked for each address of the host; by default all are tried.
    ///   - completion: Told of the socket that connects first.
    func start(
        admits: @escaping (SocketAddress) -> Bool = { _ in true },
        completion: @escaping (Result<Box<Socket>, WireError>) -> Void
    ) {
        self.admits = admits
        self.completion = completion
        Resolver.resolve(host, port: port, on: loop) { [weak self] result in self?.resolved(result) }
    }

    /// Gives up without a word.
    func cancel() {
        completion = nil
        release()
    }

    private func resolved(_ result: Result<[SocketAddress], WireError>) {
        guard completion != nil else { return }
        switch result {
        case .failure(let error):
            finish(.failure(error))
        case .success(let addresses):
            self.addresses = addresses.filter(admits)
            guard !self.addresses.isEmpty else {
                let list = addresses.map(\.host).joined(separator: ", ")
                return finish(.failure(WireError(.connectionRefused, "\(host) is at \(list), which is not allowed")))
            }
            plan = DialPlan(addressCount: self.addresses.count)
            carryOut(plan.start())
        }
    }

    private func carryOut(_ orders: [DialPlan.Order]) {
        for order in orders {
            guard completion != nil else { return }
            switch order {
            case .attempt(let index):
                attempt(index)
            case .startTimer:
                timer?.cancel()
                timer = loop.schedule(after: DialPlan.attemptDelay) { [weak self] in
                    guard let self else { return }
                    carryOut(plan.delayPassed())
                }
            case .fail(let why):
                finish(.failure(WireError(.connectionRefused, "cannot connect to \(host):\(port): \(why)")))
            }
        }
    }

    private func attempt(_ index: Int) {
        let address = addresses[index]
        do throws(WireError) {
            let socket = Box(try Socket(for: address))
            try socket.value.startConnecting(to: address)
            let watcher = try SocketWatcher(socket.value, on: loop) { [weak self] _ in self?.settled(index) }
            attempts[index] = Attempt(socket: socket, watcher: watcher)
            watcher.wait(for: .writable)
        } catch {
            carryOut(plan.attemptFailed(error.description))
        }
    }

    private func settled(_ index: Int) {
        guard let attempt = attempts.removeValue(forKey: index) else { return }
        attempt.watcher.close()
        if let why = attempt.socket.value.connectError {
            // The error names the host and the port already.
            let address = "\(addresses[index])"
            carryOut(plan.attemptFailed(address == "\(host):\(port)" ? why : "\(address): \(why)"))
        } else {
            finish(.success(attempt.socket))
        }
    }

    private func finish(_ result: Result<Box<Socket>, WireError>) {
        let completion = completion.take()
        release()
        completion?(result)
    }

    private func release() {
        timer?.cancel()
        for attempt in attempts.values { attempt.watcher.close() }
        attempts = [:]
    }
}
