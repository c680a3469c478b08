public import APNs

/// What a signing key may be used for ("Establishing a token-based connection to APNs").
public enum KeyScope: Sendable, Hashable {
    /// All topics of the team; in one environment, or, as keys from before February 2025, in both.
    case team(SimulatedAPNs.Environment? = nil)
    /// These topics in one environment; on one connection only with the keys that it is related to.
    case topics(Set<Topic>, SimulatedAPNs.Environment, relatedKeyIDs: Set<String> = [])

    /// Whether the key may be used where a simulator plays this environment.
    func covers(_ environment: SimulatedAPNs.Environment) -> Bool {
        switch self {
        case .team(let own): own == nil || own == environment
        case .topics(_, let own, _): own == environment
        }
    }

    /// Whether the key may send to this topic, whatever suffix its push type asks for.
    func covers(topic: String) -> Bool {
        guard case .topics(let topics, _, _) = self else { return true }
        return topics.contains { own in
            topic == own.rawValue || PushType.all.contains { topic == own.qualified(for: $0).rawValue }
        }
    }
}
