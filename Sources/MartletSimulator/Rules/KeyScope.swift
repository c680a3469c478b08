// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension SimulatedAPNs {
    /// The topics and environments that a signing key is valid for ("Establishing a token-based connection to APNs").
    public enum KeyScope: Sendable, Hashable {
        /// All topics of the team in one environment; nil for both environments, as for keys from before February 2025.
        case team(SimulatedAPNs.Environment? = nil)
        /// These topics in one environment. The key shares a connection only with its related keys.
        case topics(Set<Topic>, SimulatedAPNs.Environment, relatedKeyIDs: Set<String> = [])

        /// Whether the key is valid in an environment.
        func covers(_ environment: SimulatedAPNs.Environment) -> Bool {
            switch self {
            case .team(let only): only == nil || only == environment
            case .topics(_, let only, _): only == environment
            }
        }

        /// Whether the key may send to a topic, with or without the suffix of a push type.
        func covers(topic: String) -> Bool {
            guard case .topics(let topics, _, _) = self else { return true }
            return topics.contains { app in
                topic == app.rawValue || PushType.all.contains { topic == app.qualified(for: $0).rawValue }
            }
        }
    }
}
