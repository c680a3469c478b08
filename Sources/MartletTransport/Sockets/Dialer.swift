// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A TCP connector: it resolves a host name, tries the addresses in the order of ``DialPlan``, and returns the first
/// socket that connects; used only on its loop.
final class Dialer {
    /// A connection attempt in progress.
    private struct Attempt {
        var socket: Reference<Socket>
        var watcher: SocketWatcher
    }

    private let host: String
    private let port: UInt16
    private let loop: EventLoop
    private var completion: ((Result<Reference<Socket>, TransportError>) -> Void)?
    private var admits: (SocketAddress) -> Bool = { _ in true }
    private var addresses: [SocketAddress] = []
    private var plan = DialPlan(addressCount: 0)
    private var attempts: [Int: Attempt] = [:]
    private var timer: LoopTimer?

    /// Creates a dialer, which ``start(admits:completion:)`` starts.
    init(host: String, port: UInt16, on loop: EventLoop) {
        self.host = host
        self.port = port
        self.loop = loop
    }

    /// Starts connecting; `completion` is called once, unless ``cancel()`` is called before.
    ///
    /// - Parameters:
    ///   - admits: Returns whether an address of the host may be tried; by default all are.
    ///   - completion: Receives the first socket that connects.
    func start(
        admits: @escaping (SocketAddress) -> Bool = { _ in true },
        completion: @escaping (Result<Reference<Socket>, TransportError>) -> Void
    ) {
        self.admits = admits
        self.completion = completion
        Resolver.resolve(host, port: port, on: loop) { [weak self] result in self?.resolved(result) }
    }

    /// Cancels the attempts without calling `completion`.
    func cancel() {
        completion = nil
        release()
    }

    /// The host and the port for messages.
    private var server: HostPort { HostPort(host: host, port: port) }

    private func resolved(_ result: Result<[SocketAddress], TransportError>) {
        guard completion != nil else { return }
        switch result {
        case .failure(let error):
            finish(.failure(error))
        case .success(let addresses):
            self.addresses = addresses.filter(admits)
            guard !self.addresses.isEmpty else {
                let list = addresses.map(\.host).joined(separator: ", ")
                let text = "the address \(list) of \(ShownValue(host)) is not allowed"
                return finish(.failure(TransportError(.connectionRefused, text)))
            }
            plan = DialPlan(addressCount: self.addresses.count)
            carryOut(plan.start())
        }
    }

    private func carryOut(_ actions: [DialPlan.Action]) {
        for action in actions {
            guard completion != nil else { return }
            switch action {
            case .attempt(let index):
                attempt(index)
            case .startTimer:
                timer?.cancel()
                timer = loop.schedule(after: DialPlan.attemptDelay) { [weak self] in
                    guard let self else { return }
                    carryOut(plan.delayPassed())
                }
            case .fail(let why):
                finish(.failure(TransportError(.connectionRefused, "cannot connect to \(server): \(why)")))
            }
        }
    }

    private func attempt(_ index: Int) {
        let address = addresses[index]
        do throws(TransportError) {
            let socket = Reference(try Socket(for: address))
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
            // The error text already contains the host and the port.
            let address = "\(addresses[index])"
            carryOut(plan.attemptFailed(address == "\(server)" ? why : "\(address): \(why)"))
        } else {
            finish(.success(attempt.socket))
        }
    }

    private func finish(_ result: Result<Reference<Socket>, TransportError>) {
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
