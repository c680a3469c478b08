internal import APNs
internal import Outbox
internal import WebAPI

/// The answers to a batch, line by line as the outbox has them.
struct BatchAnswers: AsyncSequence, Sendable {
    /// Lines whose pushes are kept together.
    private static let together = 500

    private let call: RelayAPI.Call
    private let lines: [[UInt8]]

    init(_ call: RelayAPI.Call, _ lines: [[UInt8]]) {
        self.call = call
        self.lines = lines
    }

    func makeAsyncIterator() -> Iterator { Iterator(batch: self) }

    /// Takes so many lines at a time.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let batch: BatchAnswers
        private var next = 0

        fileprivate init(batch: BatchAnswers) {
            self.batch = batch
        }

        mutating func next() async -> [UInt8]? {
            guard next < batch.lines.count else { return nil }
            let end = Swift.min(next + BatchAnswers.together, batch.lines.count)
            defer { next = end }
            return await batch.answers(to: batch.lines[next..<end])
        }
    }

    private func answers(to lines: ArraySlice<[UInt8]>) async -> [UInt8] {
        let relay = call.service.relay
        var pushes: [OutboxPush] = []
        var parts: [Result<Range<Int>, APIProblem>] = []
        for (index, line) in zip(lines.indices, lines) {
            do throws(APIProblem) {
                let order = try PushOrder(try RelayAPI.json(of: line))
                let made = try await relay.pushes(of: order, call, line: index)
                parts.append(.success(pushes.count..<pushes.count + made.count))
                pushes += made
            } catch {
                parts.append(.failure(error))
            }
        }
        let results = await relay.accept(pushes)
        let now = relay.now
        var bytes: [UInt8] = []
        for part in parts {
            switch part {
            case .success(let range):
                let answers = range.map { PushAnswer(results[$0], pushes[$0], at: now).json }
                bytes += (answers.count == 1 ? answers[0] : ["pushes": .array(answers)]).encoded()
            case .failure(let problem): bytes += problem.json.encoded()
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension RelayAPI {
    /// A line of a batch.
    static func json(of line: [UInt8]) throws(APIProblem) -> JSONValue {
        do throws(JSONError) {
            return try JSONReader.read(line)
        } catch {
            throw APIProblem(400, "the line is no JSON: \(error)", at: "")
        }
    }
}
