internal import APNs
internal import Outbox

/// What a relay knows of those that share its outbox: a value; a relay with a file of its own is alone.
struct FleetView {
    /// How many there are.
    private(set) var size = 1
    /// Whether this one does what one alone may do.
    private(set) var leads = true
    /// The relays that are there.
    private(set) var nodes: [OutboxNode] = []
    /// What the others have told of their lanes.
    private var others: [Int64: [Lane: LaneFacts]] = [:]
    /// What relays have done that are there no more, so that sums only grow.
    private var gone: [Lane: LaneFacts] = [:]

    /// Relays that are running under this relay's name.
    private var namesakes: Set<Int64> = []
    /// Those of them that were not returned by ``takeNamesakes()`` yet.
    private var newNamesakes: [Int64] = []

    /// Whether there may be others.
    var isShared: Bool { !nodes.isEmpty }

    /// So many are there.
    mutating func learn(size: Int, leads: Bool) {
        self.size = max(1, size)
        self.leads = leads
    }

    /// These are there, and have told this.
    mutating func learn(_ nodes: [OutboxNode]) {
        learnNamesakes(nodes)
        self.nodes = nodes
        let before = others
        others = [:]
        for node in nodes where !node.isOwn { others[node.number] = FleetView.lanes(in: node.facts) }
        for (number, lanes) in before where others[number] == nil {
            for (lane, facts) in lanes { gone[lane] = (gone[lane] ?? LaneFacts()) + facts.done }
        }
    }

    /// Relays under this relay's name that were not returned before.
    mutating func takeNamesakes() -> [Int64] {
        defer { newNamesakes = [] }
        return newNamesakes
    }

    /// Finds relays under this relay's name that have renewed their lease since the last time.
    ///
    /// One that has not may be what a relay left that was killed and started again, until its lease ends.
    private mutating func learnNamesakes(_ now: [OutboxNode]) {
        let before = Dictionary(nodes.map { ($0.number, $0) }) { first, _ in first }
        let name = now.first(where: \.isOwn)?.name
        let running = now.filter { node in
            guard !node.isOwn, node.name == name, let last = before[node.number] else { return false }
            return node.silence < last.silence
        }
        for node in running where namesakes.insert(node.number).inserted { newNamesakes.append(node.number) }
    }

    /// A relay's part of what all may do together.
    func share(of whole: Int) -> Int { max(1, whole / size) }

    /// What the others do in a lane.
    func others(in lane: Lane) -> LaneFacts {
        others.values.reduce(gone[lane] ?? LaneFacts()) { $0 + ($1[lane] ?? LaneFacts()) }
    }

    /// What a node does in some apps' lanes together.
    func facts(of node: OutboxNode, in apps: Set<String>) -> LaneFacts {
        FleetView.lanes(in: node.facts).filter { apps.contains($0.key.app) }.values.reduce(LaneFacts(), +)
    }

    /// What a relay tells of its lanes, for ``learn(_:)`` of another.
    static func text(of lanes: [Lane: LaneFacts]) -> String {
        let list = lanes.map { lane, facts in
            JSONValue.object(
                [.init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue))]
                    + facts.members
            )
        }
        return String(decoding: JSONValue.array(list).encoded(), as: UTF8.self)
    }

    private static func lanes(in text: String) -> [Lane: LaneFacts] {
        var lanes: [Lane: LaneFacts] = [:]
        for json in (try? JSONReader.read(Array(text.utf8)))?.elements ?? [] {
            guard let app = json["app"]?.stringValue,
                let environment = json["environment"]?.stringValue.flatMap(PushEnvironment.init(rawValue:))
            else { continue }
            lanes[Lane(app: app, environment: environment)] = LaneFacts(json)
        }
        return lanes
    }
}
