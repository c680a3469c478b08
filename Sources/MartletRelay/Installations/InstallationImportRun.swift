// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The import of the installations in a body, which is read while it arrives, as fast as its installations are stored.
struct InstallationImportRun {
    /// The maximum number of installations that are stored together, so that other calls need not wait for long.
    static let pageSize = 250
    /// The number of tokens from which on no further installation is added to those that are stored together.
    private static let pageTokens = 500
    /// The maximum number of refused lines that are named; all of them are counted.
    static let problemLimit = 1_000
    /// The maximum number of unknown time zones that are named.
    static let unknownZoneLimit = 20
    /// The results that are no refusals, in the order of the summary.
    static let counted: [ImportResult] = [.added, .changed, .unchanged, .known, .unregistered]

    private let call: RelayAPI.Call
    private let reader: InstallationReader
    /// The slot among the open batches of the caller, held until this value is released.
    private let slot: OpenBatch
    private var lines: BatchLines
    private var page: [Installation] = []
    /// The numbers of the lines of the page.
    private var lineNumbers: [Int] = []
    /// The identifiers and tokens of the page, each of which it has only once.
    private var identifiers: Set<InstallationID> = []
    private var tokens: Set<DeviceToken> = []
    private var counts: [ImportResult: Int] = [:]
    private var refused = 0
    private var problems: [(line: Int, problem: APIProblem)] = []
    private var zones = ZoneLookup()
    /// The first names of time zones that the IANA database does not have.
    private var unknownZones: Set<String> = []

    init(_ call: RelayAPI.Call, _ reader: InstallationReader, _ slot: OpenBatch) {
        self.call = call
        self.reader = reader
        self.slot = slot
        lines = BatchLines(call.body, call.stream)
    }

    /// Imports all installations, and returns the numbers of lines by result, and the refused lines.
    ///
    /// - Returns: The JSON of the answer.
    /// - Throws: ``APIProblem`` when the import has to stop. What is stored then stays, and the same import changes
    ///   nothing of it.
    mutating func summary() async throws(APIProblem) -> JSONValue {
        while true {
            let texts = try await nextLines()
            guard !texts.isEmpty else { break }
            let (reader, now) = (reader, call.parts.now)
            let read = await call.parts.longRequests.inTurn(of: call.caller.name) {
                texts.map { reader.importedInstallation(onLine: $0.text, at: now) }
            }
            for (line, installation) in zip(texts, read) {
                switch installation {
                case .success(let installation): try await add(installation, fromLine: line.number)
                case .failure(let problem) where problem.status == 400: refuse(line.number, problem)
                case .failure(let problem): throw problem
                }
            }
        }
        try await storePage()
        var members = Self.counted.map { JSONValue.Member($0.rawValue, .whole(counts[$0, default: 0])) }
        // A line that the store refuses is found after later lines that cannot be read.
        let named = problems.sorted { $0.line < $1.line }.map { line, problem in
            JSONValue.members([
                "line": .whole(line), "detail": .string(problem.detail), "pointer": problem.pointer.map { .string($0) },
            ])
        }
        members += [.init("refused", .whole(refused)), .init("problems", .array(named))]
        if !unknownZones.isEmpty {
            members.append(.init("unknown-time-zones", .array(unknownZones.sorted().map { .string($0) })))
        }
        return .object(members)
    }

    /// Returns the lines of the next turn, those that have arrived; none at the end.
    private mutating func nextLines() async throws(APIProblem) -> [(number: Int, text: [UInt8])] {
        var found: [(number: Int, text: [UInt8])] = []
        var byteCount = 0
        while found.count < LongRequests.linesPerTurn, byteCount < LongRequests.bytesPerTurn,
            let text = try await nextLine(after: found.count)
        {
            found.append((number: lines.lineNumber, text: text))
            byteCount += text.count
        }
        return found
    }

    private mutating func nextLine(after count: Int) async throws(APIProblem) -> [UInt8]? {
        do throws(BatchLines.Failure) {
            return try await lines.next(after: count)
        } catch {
            guard let problem = error.problem else {
                throw APIProblem(400, "the connection ended before the body was complete")
            }
            throw APIProblem(problem.status, "line \(lines.lineNumber + 1): \(problem.detail)")
        }
    }

    /// Adds an installation to the page, which is stored before if it is full or has its identifier or a token.
    private mutating func add(_ new: Installation, fromLine line: Int) async throws(APIProblem) {
        let own = Set(new.tokens.values.map(\.token))
        let isFull = page.count >= Self.pageSize || tokens.count >= Self.pageTokens
        if isFull || identifiers.contains(new.id) || !tokens.isDisjoint(with: own) { try await storePage() }
        if let name = new.attributes[.timeZone], unknownZones.count < Self.unknownZoneLimit,
            zones.zone(named: name) == nil
        {
            unknownZones.insert(name)
        }
        page.append(new)
        lineNumbers.append(line)
        identifiers.insert(new.id)
        tokens.formUnion(own)
    }

    /// Stores the page once no page of another import of the caller is being stored.
    private mutating func storePage() async throws(APIProblem) {
        guard !page.isEmpty else { return }
        let caller = call.caller.name
        let pages = await call.parts.server.context.importPages
        await pages.begin(of: caller)
        defer { pages.end(of: caller) }
        guard call.service.stillHas(.installations) else {
            throw APIProblem(403, "this key no longer permits changes of installations")
        }
        let results = try await importedPage()
        for (number, result) in zip(lineNumbers, results) {
            switch result {
            case .added, .changed, .unchanged, .known, .unregistered: counts[result, default: 0] += 1
            case .identifierIsTaken:
                refuse(number, APIProblem(400, "id is that of another app's installation: leave it out", at: "/id"))
            case .userIsFull:
                let limit = Installation.limitPerUser
                refuse(number, APIProblem(400, "user has \(limit) installations already, the most", at: "/user"))
            }
        }
        page = []
        lineNumbers = []
        identifiers = []
        tokens = []
    }

    /// Stores the page, and returns the result of each installation.
    private func importedPage() async throws(APIProblem) -> [ImportResult] {
        var results = try await stored(page)
        var renamed: [(index: Int, installation: Installation)] = []
        for (index, result) in results.enumerated() where result == .identifierIsTaken {
            guard let other = try await withOtherIdentifier(page[index]) else { continue }
            renamed.append((index, other))
        }
        guard !renamed.isEmpty else { return results }
        let again = try await stored(renamed.map(\.installation))
        for (other, result) in zip(renamed, again) { results[other.index] = result }
        return results
    }

    private func stored(_ page: [Installation]) async throws(APIProblem) -> [ImportResult] {
        let store = call.parts.outbox.installations
        let (app, now) = (reader.app.name, call.parts.now)
        return try await call.parts.change(
            await store.importPage(page, of: app, at: now),
            remedy: "repeat the import, which changes nothing twice"
        )
    }

    /// Returns an installation, whose derived identifier another app has, with the identifier of its earlier import, or
    /// with a new one; nil if its identifier is not the derived one.
    ///
    /// Every back end can import an installation with the identifier that another app would derive, which must not
    /// prevent the import of the other app.
    private func withOtherIdentifier(_ installation: Installation) async throws(APIProblem) -> Installation? {
        let slot = Installation.TokenSlot(.device)
        guard let token = installation.tokens[slot]?.token else { return nil }
        let derived = try await APIProblem.wrapping(reader.derivedIdentifier(installation.environment, token))
        guard installation.id == derived else { return nil }
        let store = call.parts.outbox.installations
        let (app, user, limit) = (reader.app.name, installation.user, Installation.limitPerUser)
        let known = try await call.parts.read(await store.installations(of: app, .user(user), after: 0, limit: limit))
        let earlier = known.map(\.installation).first {
            $0.environment == installation.environment && $0.tokens[slot]?.token == token
        }
        var generator = SystemRandomNumberGenerator()
        var other = installation
        other.id = earlier?.id ?? InstallationID(milliseconds: call.parts.now, using: &generator)
        return other
    }

    private mutating func refuse(_ line: Int, _ problem: APIProblem) {
        refused += 1
        if problems.count < Self.problemLimit { problems.append((line, problem)) }
    }
}
