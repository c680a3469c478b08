// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// The requests with long JSON bodies, and the lines of batches and imports, which are parsed and checked on a thread
/// of their own, one after the other.
///
/// Callers take turns, so that the requests of one delay neither those of another nor any short request.
actor LongRequests {
    /// The size in bytes from which on a body is long.
    static let leastByteCount = 16 << 10
    /// The maximum number of JSON values in a long body, enough for the longest list of tokens with a payload.
    static let valueLimit = 20_000
    /// The maximum number of destinations of a request whose pushes are built in one turn of its caller.
    static let destinationsPerTurn = 500
    /// The maximum numbers of lines and of their bytes that are parsed in one turn of their caller.
    static let (linesPerTurn, bytesPerTurn) = (500, 64 << 10)

    /// Shuts the loop down with the last reference to these requests.
    private let owner: LoopOwner
    nonisolated let loop: EventLoop
    /// The executor of tasks that handle batches.
    nonisolated let executor: LoopTaskExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var waiting = CallerTurns<CheckedContinuation<Void, Never>>()
    private var isTurnScheduled = false

    init(on owner: LoopOwner) {
        self.owner = owner
        loop = owner.loop
        executor = LoopTaskExecutor(owner.loop)
    }

    /// Answers a request with a long body with its route.
    func answer(
        _ request: HTTPRequest,
        _ service: RelayAPI.Service,
        stream: HTTP1Body?,
        match: RelayAPI.Match
    ) async -> HTTP1Answer {
        // The task may be cancelled: a client that has ended its input still waits for the answer.
        await waitForTurn(of: service.caller.name)
        let content = match.readsJSON ? LongRequests.parse(request.body) : nil
        return await RelayAPI.table.answer(request, service, stream: stream, match: match, content: content)
    }

    /// Parses a long line of a batch.
    func parse(_ line: [UInt8], for caller: String) async -> Result<JSONValue, JSONError> {
        await waitForTurn(of: caller)
        return LongRequests.parse(line)
    }

    /// Returns the result of a function that runs when it is the turn of a caller.
    func inTurn<Value: Sendable>(of caller: String, _ body: @Sendable () -> Value) async -> Value {
        await waitForTurn(of: caller)
        return body()
    }

    static func parse(_ text: [UInt8]) -> Result<JSONValue, JSONError> {
        Result { () throws(JSONError) in try JSONReader.read(text, maximumValueCount: valueLimit) }
    }

    private func waitForTurn(of caller: String) async {
        await withCheckedContinuation { continuation in
            waiting.add(continuation, of: caller)
            scheduleTurn()
        }
    }

    /// Takes one request in each turn of the loop, so that those that have arrived until then are considered.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        loop.atNextTurn { [weak self] in self?.assumeIsolated { $0.takeTurn() } }
    }

    private func takeTurn() {
        isTurnScheduled = false
        waiting.next()?.resume()
        if !waiting.isEmpty { scheduleTurn() }
    }
}

/// The elements of callers that take turns: each caller's in their order, one of each caller at a time.
struct CallerTurns<Element> {
    private var elements: [String: [Element]] = [:]
    /// The callers with elements, the next one first.
    private var callers: [String] = []

    var isEmpty: Bool { callers.isEmpty }

    /// Adds an element behind the others of its caller.
    mutating func add(_ element: Element, of caller: String) {
        if elements[caller] == nil { callers.append(caller) }
        elements[caller, default: []].append(element)
    }

    /// Removes the first element of the next caller; nil when there is none.
    mutating func next() -> Element? {
        guard let caller = callers.first else { return nil }
        callers.removeFirst()
        guard var own = elements.removeValue(forKey: caller), let first = own.first else { return nil }
        own.removeFirst()
        guard !own.isEmpty else { return first }
        elements[caller] = own
        callers.append(caller)
        return first
    }
}
