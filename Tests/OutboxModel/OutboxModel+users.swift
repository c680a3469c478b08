// SPDX-License-Identifier: Apache-2.0

package import MartletOutbox

extension OutboxModel {
    /// The user whose installation has the token of a push now.
    func owner(of push: OutboxPush) -> String? {
        guard case .device(let token) = push.destination else { return nil }
        return installations.owner(of: token, in: push.lane.app)
    }

    /// Whether the token of a push has left the user, compared byte by byte, that the push belongs to.
    func hasFormerUser(_ row: Row) -> Bool {
        guard let user = row.user else { return false }
        // The user of a push to a token is empty after the user's erasure.
        guard let owner = owner(of: row.push) else { return row.push.user != nil || user.isEmpty }
        return !owner.utf8.elementsEqual(user.utf8)
    }

    package mutating func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) -> ErasedPushes {
        let live = rows.filter { $0.value.push.lane.app == app && selection.has($0.value.push, of: $0.value.user) }
        let letters = ends.filter { $0.value.isDeadLetter(of: app) && selection.has($0.value.push, of: $0.value.user) }
        let bound: Int64 = cursor ?? .max
        let numbers = Array(live.keys) + letters.values.map(\.number)
        let step = numbers.filter { $0 < bound }.sorted(by: >).prefix(limit)
        var erased = ErasedPushes()
        if step.count == limit { erased.next = step.last }
        for (name, letter) in letters where step.contains(letter.number) {
            ends[name] = nil
            erased.deadLetters += 1
        }
        for number in step {
            guard let row = live[number] else { continue }
            if claimed[number] != nil {
                if row.push.user == nil { rows[number]?.user = "" }
                continue
            }
            end(number, Outcome(.cancelled), at: now)
            if let status = status(of: row.push.id, of: app) { erased.cancelled.append(status) }
        }
        return erased
    }
}
