// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The registered relays that share an outbox, and the data that they publish.
struct FleetView: Sendable {
    /// The time without an update after which the data is outdated, in milliseconds: several updates were missed.
    private static let longestAge: Int64 = 10_000

    /// A relay that has stopped without ending its registration.
    struct MissingNode: Sendable, Hashable {
        var number: Int64
        var name: String
        /// The time of its last heartbeat, in milliseconds since 1970.
        var since: Int64
    }

    /// Relays that run at the same time with the same name.
    struct Duplicate: Sendable, Hashable {
        var name: String
        /// The numbers of the relays, in ascending order.
        var numbers: [Int64]
    }

    /// The times at which updates contained a registered relay, in milliseconds since 1970.
    private struct Sighting {
        var first: Int64
        /// The last update that showed that the relay had renewed its lease since the update before.
        var renewed: Int64
    }

    /// The time without a heartbeat after which a relay counts as missing, in milliseconds: several were missed.
    private static let longestSilence: Int64 = 5_000
    /// The time for which a missing relay is reported, in milliseconds.
    private static let missingTime: Int64 = 3_600_000
    /// The maximum number of missing relays that are stored.
    private static let missingLimit = 20

    /// The registered relays; empty for a relay with an outbox in a file.
    private(set) var nodes: [OutboxNode] = []
    /// The time of the last update, in milliseconds since 1970; nil before the first one.
    private var updatedAt: Int64?
    /// The data that the other relays have published about their lanes.
    private var others: [Int64: [Lane: LaneCounts]] = [:]
    /// The totals of relays that have stopped, so that sums do not decrease.
    private var stopped: [Lane: LaneCounts] = [:]
    /// The relays whose registration has expired without a shutdown, oldest first.
    private var expired: [MissingNode] = []
    private var sightings: [Int64: Sighting] = [:]
    /// The relays that run with the same name, by name.
    private(set) var duplicates: [Duplicate] = []
    /// The missing relays that ``takeMissing(at:)`` has returned.
    private var reportedMissing: Set<Int64> = []
    /// The relays with this relay's name that ``takeDuplicates()`` has returned.
    private var reportedDuplicates: Set<Int64> = []

    /// Updates the registered relays and their published data.
    mutating func update(_ nodes: [OutboxNode], at now: Int64) {
        findExpired(among: nodes)
        recordSightings(of: nodes, at: now)
        updatedAt = now
        self.nodes = nodes
        expired.removeAll(where: wasRestarted)
        findDuplicates()
        let before = others
        others = [:]
        for node in nodes where !node.isOwn { others[node.number] = FleetView.lanes(in: node.publishedData) }
        for (number, lanes) in before where others[number] == nil {
            for (lane, counts) in lanes { stopped[lane] = (stopped[lane] ?? LaneCounts()) + counts.done }
        }
    }

    /// Records the relays whose registration has ended since the last call although they were silent: they did not end
    /// it themselves.
    private mutating func findExpired(among now: [OutboxNode]) {
        guard let updatedAt else { return }
        let numbers = Set(now.map(\.number))
        let silent = nodes.filter { !numbers.contains($0.number) && FleetView.isMissing($0) }
        expired += silent.map { MissingNode(number: $0.number, name: $0.name, since: updatedAt - $0.silence) }
        if expired.count > FleetView.missingLimit { expired.removeFirst(expired.count - FleetView.missingLimit) }
    }

    /// Returns whether a registered relay has missed several heartbeats; this relay, which runs, has not stopped.
    static func isMissing(_ node: OutboxNode) -> Bool { !node.isOwn && node.silence >= longestSilence }

    /// Returns the relays that have stopped without a shutdown within the last hour, and were not started again.
    func missing(at now: Int64) -> [MissingNode] {
        let silent = nodes.filter(FleetView.isMissing)
        let all =
            expired
            + silent.map { MissingNode(number: $0.number, name: $0.name, since: (updatedAt ?? now) - $0.silence) }
        return all.filter { (0..<FleetView.missingTime).contains(now - $0.since) && !wasRestarted($0) }
    }

    /// Returns the missing relays that were not returned before, or were not missing in the last call.
    mutating func takeMissing(at now: Int64) -> [MissingNode] {
        let all = missing(at: now)
        defer { reportedMissing = Set(all.map(\.number)) }
        return all.filter { !reportedMissing.contains($0.number) }
    }

    /// Returns whether a relay of the same name has been started since a relay has stopped; it may be missing itself.
    ///
    /// One that ran beside it before is another relay with the same name.
    private func wasRestarted(_ missing: MissingNode) -> Bool {
        nodes.contains { node in
            node.name == missing.name && sightings[node.number].map { $0.first > missing.since } ?? false
        }
    }

    /// Returns the time of the last update if it was long ago, because the database does not answer; nil otherwise.
    func outdatedSince(at now: Int64) -> Int64? {
        updatedAt.flatMap { now - $0 > FleetView.longestAge ? $0 : nil }
    }

    /// Returns the relays with this relay's name that were not returned before.
    mutating func takeDuplicates() -> [Int64] {
        guard let own = nodes.first(where: \.isOwn) else { return [] }
        let numbers = duplicates.first { $0.name == own.name }?.numbers ?? []
        let new = numbers.filter { $0 != own.number && !reportedDuplicates.contains($0) }
        reportedDuplicates.formUnion(new)
        return new
    }

    private mutating func recordSightings(of now: [OutboxNode], at time: Int64) {
        let silences = Dictionary(nodes.map { ($0.number, $0.silence) }) { first, _ in first }
        var all: [Int64: Sighting] = [:]
        for node in now {
            var sighting = sightings[node.number] ?? Sighting(first: time, renewed: time)
            if node.isOwn || node.silence < silences[node.number] ?? 0 { sighting.renewed = time }
            all[node.number] = sighting
        }
        sightings = all
    }

    private mutating func findDuplicates() {
        let running = nodes.filter { $0.silence < FleetView.longestSilence }
        duplicates = Dictionary(grouping: running, by: \.name).compactMap { name, nodes in
            let numbers = nodes.map(\.number).sorted()
            let together = numbers.filter { number in numbers.contains { runTogether(number, $0) } }
            return together.isEmpty ? nil : Duplicate(name: name, numbers: together)
        }
        .sorted { $0.name < $1.name }
    }

    /// Returns whether each of two relays has renewed its lease after the other one was seen for the first time.
    ///
    /// A relay that was killed and started again leaves a registration without renewals until its lease expires.
    private func runTogether(_ number: Int64, _ other: Int64) -> Bool {
        guard number != other, let one = sightings[number], let two = sightings[other] else { return false }
        return one.renewed > two.first && two.renewed > one.first
    }

    /// Returns the sum of the other relays' data about a lane.
    func others(in lane: Lane) -> LaneCounts {
        others.values.reduce(stopped[lane] ?? LaneCounts()) { $0 + ($1[lane] ?? LaneCounts()) }
    }

    /// Returns the sum of a relay's data about the lanes of some apps.
    func counts(of node: OutboxNode, in apps: Set<String>) -> LaneCounts {
        FleetView.lanes(in: node.publishedData).filter { apps.contains($0.key.app) }.values.reduce(LaneCounts(), +)
    }

    /// Returns the data about a relay's lanes in the form that it publishes for ``update(_:)``.
    static func text(of lanes: [Lane: LaneCounts]) -> String {
        let list = lanes.map { lane, counts in
            JSONValue.object(
                [.init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue))]
                    + counts.members
            )
        }
        return String(decoding: JSONValue.array(list).encoded(), as: UTF8.self)
    }

    private static func lanes(in text: String) -> [Lane: LaneCounts] {
        var lanes: [Lane: LaneCounts] = [:]
        for json in (try? JSONReader.read(Array(text.utf8)))?.elements ?? [] {
            if let lane = Lane(json) { lanes[lane] = LaneCounts(json) }
        }
        return lanes
    }
}

extension Lane {
    /// Reads the lane of a JSON object; nil without an app and an environment.
    init?(_ json: JSONValue) {
        guard let app = json["app"]?.stringValue,
            let environment = json["environment"]?.stringValue.flatMap(PushEnvironment.init(rawValue:))
        else { return nil }
        self.init(app: app, environment: environment)
    }
}
