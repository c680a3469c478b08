// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The answers to a batch, one line for each of its lines, once the outbox has stored its pushes.
///
/// A batch is read while it arrives, as fast as its pushes are stored, so its length takes no memory. The pushes that
/// wait to be stored at a time are those of ``groupSize`` destinations or ``userLimit`` users, or of one line that has
/// more.
struct BatchAnswers: AsyncSequence, Sendable {
    /// The number of destinations from which on no further line is added to the pushes that are stored together.
    private static let groupSize = 2_000
    /// The number of users from which on no further line is added to those that are looked up together: they have at
    /// most 10,000 installations.
    private static let userLimit = 500
    /// The maximum time that pushes wait for capacity that other pushes use.
    private static let capacityTime = Duration.seconds(30)

    let call: RelayAPI.Call
    let builder: PushRequestBuilder
    /// The slot of the batch among the open batches of its caller, held until this value is released.
    let slot: OpenBatch

    func makeAsyncIterator() -> Iterator { Iterator(batch: self) }

    /// An iterator that handles a group of lines at a time.
    struct Iterator: AsyncIteratorProtocol {
        private let batch: BatchAnswers
        private var builder: PushRequestBuilder
        private var lines: BatchLines
        private var lineNumber = 0
        private var hasEnded = false

        fileprivate init(batch: BatchAnswers) {
            self.batch = batch
            builder = batch.builder
            lines = BatchLines(batch.call.body, batch.call.stream)
        }

        mutating func next() async -> [UInt8]? {
            // The threads that all requests share must not be occupied by batches.
            await withTaskExecutorPreference(batch.call.parts.longRequests.executor) { await answersToNextPart() }
        }

        private mutating func answersToNextPart() async -> [UInt8]? {
            guard !hasEnded else { return nil }
            do throws(BatchLines.Failure) {
                let part = try await nextPart()
                guard part.count > 0 else { return nil }
                lineNumber += part.count
                guard batch.call.service.stillHas(.send) else {
                    hasEnded = true
                    return part.refusals
                }
                return await batch.answers(to: part, &builder)
            } catch {
                hasEnded = true
                return error.problem.map { $0.json.encoded() + [UInt8(ascii: "\n")] }
            }
        }

        /// Reads the lines of the next part, those that have arrived, in turns of the caller; none at the end.
        private mutating func nextPart() async throws(BatchLines.Failure) -> Part {
            var part = Part(firstLine: lineNumber)
            var linesLeft = 0
            var bytesLeft = 0
            while !part.isFull, let line = try await lines.next(after: part.count) {
                if linesLeft == 0 || bytesLeft <= 0 {
                    await batch.call.parts.longRequests.inTurn(of: batch.call.caller.name) {}
                    (linesLeft, bytesLeft) = (LongRequests.linesPerTurn, LongRequests.bytesPerTurn)
                }
                linesLeft -= 1
                bytesLeft -= line.count
                part.add(await batch.call.json(ofLine: line))
            }
            return part
        }
    }

    /// Lines whose pushes are stored together.
    fileprivate struct Part {
        /// The number of the first line in the batch.
        let firstLine: Int
        /// The request of each line, or the error in the line.
        private(set) var requests: [Result<PushRequest, APIProblem>] = []
        private var destinations = 0
        private var users = 0

        init(firstLine: Int) {
            self.firstLine = firstLine
        }

        var count: Int { requests.count }

        var isFull: Bool {
            count >= BatchAnswers.groupSize || destinations >= BatchAnswers.groupSize
                || users >= BatchAnswers.userLimit
        }

        /// The answers to a caller that is no longer permitted to send.
        var refusals: [UInt8] {
            let problem = APIProblem(403, "this key no longer permits sending").json.encoded() + [UInt8(ascii: "\n")]
            return Array(repeatElement(problem, count: count).joined())
        }

        mutating func add(_ line: Result<JSONValue, JSONError>) {
            do throws(APIProblem) {
                let request = try PushRequest(try BatchLines.json(of: line))
                destinations += request.destinations.count
                if case .audience(let audience)? = request.audience?.target { users += audience.count }
                requests.append(.success(request))
            } catch {
                requests.append(.failure(error))
            }
        }
    }

    private func answers(to part: Part, _ builder: inout PushRequestBuilder) async -> [UInt8] {
        let service = call.service
        let groups = await builder.groups(
            of: part.requests,
            firstLine: part.firstLine,
            by: service.parts.intake,
            waitingForRoom: BatchAnswers.capacityTime
        )
        let answers = await service.parts.intake.accept(
            groups.flatMap { (try? $0.get())?.pushes ?? [] },
            from: service.caller,
            waitingForRoom: BatchAnswers.capacityTime
        )
        builder.now = service.parts.now
        let jobDeadline = ContinuousClock.now + BatchAnswers.capacityTime
        var bytes: [UInt8] = []
        var rest = answers[...]
        for group in groups {
            switch group {
            case .success(let group):
                if let job = group.job {
                    let answer = await json(of: job, waitingForRoomUntil: jobDeadline)
                    bytes += answer.encoded()
                } else {
                    let answers = zip(rest, group.pushes).map { PushAnswer($0, $1.push) }
                    rest = rest.dropFirst(group.pushes.count)
                    bytes += group.json(answers, at: builder.now).encoded()
                }
            case .failure(let problem): bytes += problem.json.encoded()
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Stores a job and returns the answer to its line.
    private func json(of job: Job, waitingForRoomUntil end: ContinuousClock.Instant) async -> JSONValue {
        let time = Swift.max(.zero, ContinuousClock.now.duration(to: end))
        do throws(APIProblem) {
            return try await call.service.add(job, waitingForRoom: time).json
        } catch {
            return error.json
        }
    }
}
