// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The lanes that operators have paused, as they were last read from the outbox.
struct LaneControl {
    /// A difference from the previous list.
    enum Change: Equatable {
        case paused(LanePause)
        case resumed(Lane)
    }

    private var pauses: [Lane: LanePause] = [:]
    /// Whether the list has been read from the outbox.
    private(set) var isKnown = false
    /// The number of changes by this relay; a list that was requested before the last change is outdated.
    private(set) var changes = 0

    var lanes: Set<Lane> { Set(pauses.keys) }

    func pause(of lane: Lane) -> LanePause? { pauses[lane] }

    /// Records that this relay has paused or resumed a lane in the outbox.
    mutating func recordChange() { changes += 1 }

    /// Replaces the list with one from the outbox.
    ///
    /// An outdated list, for which ``changes`` was another value when it was requested, is ignored.
    ///
    /// - Returns: The differences, in the order of the lanes' names; nil for an outdated list.
    mutating func update(_ list: [LanePause], requestedAfter changes: Int) -> [Change]? {
        guard changes == self.changes else { return nil }
        let before = pauses
        pauses = Dictionary(list.map { ($0.lane, $0) }) { first, _ in first }
        isKnown = true
        let begun = list.filter { before[$0.lane] == nil }.map { ($0.lane, Change.paused($0)) }
        let ended = before.keys.filter { pauses[$0] == nil }.map { ($0, Change.resumed($0)) }
        return (begun + ended).sorted { Self.name(of: $0.0) < Self.name(of: $1.0) }.map(\.1)
    }

    private static func name(of lane: Lane) -> String { "\(lane.app) \(lane.environment.rawValue)" }
}

extension LanePause {
    /// The pause in the relay's status.
    var json: JSONValue { ["since": .whole(since), "caller": .string(caller)] }
}
