internal import APNs
internal import Outbox
internal import WebAPI

/// The answers to a batch, line by line as the outbox has them.
struct BatchAnswers: AsyncSequence, Sendable {
    /// Lines whose pushes are kept together.
    private static let together = 500

    private let call: RelayAPI.Call
    private let desk: OrderDesk
    private let lines: [ArraySlice<UInt8>]

    init(_ call: RelayAPI.Call, _ desk: OrderDesk, _ lines: [ArraySlice<UInt8>]) {
        self.call = call
        self.desk = desk
        self.lines = lines
    }

    func makeAsyncIterator() -> Iterator { Iterator(batch: self) }

    /// Takes so many lines at a time.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let batch: BatchAnswers
        private var desk: OrderDesk
        private var next = 0

        fileprivate init(batch: BatchAnswers) {
            self.batch = batch
            desk = batch.desk
        }

        mutating func next() async -> [UInt8]? {
            guard next < batch.lines.count else { return nil }
            let end = Swift.min(next + BatchAnswers.together, batch.lines.count)
            defer { next = end }
            return await batch.answers(to: batch.lines[next..<end], at: &desk)
        }
    }

    private func answers(to lines: ArraySlice<ArraySlice<UInt8>>, at desk: inout OrderDesk) async -> [UInt8] {
        let relay = call.service.relay
        var pushes: [OutboxPush] = []
        var parts: [Result<Range<Int>, APIProblem>] = []
        for (index, line) in zip(lines.indices, lines) {
            do throws(APIProblem) {
                let made = try desk.pushes(of: try PushOrder(try RelayAPI.json(of: Array(line))), line: index)
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
            throw APIProblem(400, "the line is not valid JSON: \(error)", at: "")
        }
    }
}
