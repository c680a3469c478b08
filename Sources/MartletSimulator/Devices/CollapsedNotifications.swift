// SPDX-License-Identifier: Apache-2.0

/// The newest notification of each collapse identifier that devices show, without I/O or a clock.
///
/// The memory is bounded: identifiers that were not used for a long time are forgotten.
struct CollapsedNotifications {
    private struct Name: Hashable {
        let token: String
        let topic: String
        let collapseID: String
    }

    private let limit: Int
    private var recent: [Name: Int] = [:]
    /// The identifiers used before the recent ones, which are forgotten next.
    private var older: [Name: Int] = [:]

    /// Creates an empty memory of at least as many identifiers as the limit says, and at most twice as many.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Records a notification that a device shows.
    ///
    /// - Returns: The number of the push whose notification it replaces; nil for none.
    mutating func replace(at token: String, with push: DeliveredPush) -> Int? {
        guard let collapseID = push.collapseID else { return nil }
        let name = Name(token: token, topic: push.topic, collapseID: collapseID)
        let replaced = recent.updateValue(push.number, forKey: name) ?? older[name]
        if recent.count >= limit {
            older = recent
            recent = [:]
        }
        return replaced
    }
}
