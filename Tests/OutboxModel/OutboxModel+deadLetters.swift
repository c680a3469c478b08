// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletOutbox

/// The abandoned pushes.
extension OutboxModel {
    package func deadLetters(of app: String, limit: Int) -> [DeadLetter] {
        let letters = ends.filter { $0.key.app == app && $0.value.outcome.state == .dead }.values
        return letters.sorted { $0.at > $1.at }.prefix(limit).map {
            DeadLetter(
                push: $0.push,
                acceptedAt: $0.acceptedAt,
                outcome: $0.outcome,
                endedAt: $0.at,
                history: $0.history
            )
        }
    }

    package var deadLetterCounts: [String: DeadLetterCount] {
        ends.filter { $0.value.outcome.state == .dead }.reduce(into: [:]) { counts, end in
            let before = counts[end.key.app]
            let isDamaged = end.value.outcome.reason == Outcome.damagedReason
            counts[end.key.app] = DeadLetterCount(
                count: (before?.count ?? 0) + (isDamaged ? 0 : 1),
                newest: max(before?.newest ?? 0, isDamaged ? 0 : end.value.at),
                damaged: (before?.damaged ?? 0) + (isDamaged ? 1 : 0)
            )
        }
    }

    package func deadLetter(_ id: APNsID, of app: String) -> DeadLetter? {
        deadLetters(of: app, limit: .max).first { $0.push.id == id }
    }

    package mutating func deleteDeadLetters(_ ids: [APNsID], of app: String) -> Int {
        let letters = deadLetters(of: app, limit: .max).filter { ids.contains($0.push.id) }
        for letter in letters { ends[Name(app: app, id: letter.push.id)] = nil }
        return letters.count
    }

    package mutating func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) -> Int {
        let letters = deadLetters(of: app, limit: .max).filter {
            (ids?.contains($0.push.id) ?? true) && $0.outcome.reason != Outcome.damagedReason
        }
        for letter in letters {
            let name = Name(app: app, id: letter.push.id)
            guard let end = ends.removeValue(forKey: name) else { continue }
            if let job = end.push.job { jobs.count(-1, .dead, of: job, at: now) }
            rows[end.number] = Row(
                push: end.push,
                acceptedAt: end.acceptedAt,
                readyAt: now,
                isInLine: false,
                unknownTries: end.outcome.unknownTries,
                user: end.user
            )
            numbers[name] = end.number
        }
        return letters.count
    }
}
