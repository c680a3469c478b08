// SPDX-License-Identifier: Apache-2.0

package import MartletOutbox

extension PushSelection {
    /// Returns whether a push of a user, nil for none, is selected; users are compared byte by byte.
    func has(_ push: OutboxPush, of owner: String?) -> Bool {
        switch self {
        case .user(let user): owner?.utf8.elementsEqual(user.utf8) ?? false
        case .tokenWithoutUser(let token): owner == nil && push.destination == .device(token)
        }
    }
}

extension OutboxStore {
    /// Returns the selections that together have the pushes of a user.
    private func selections(ofUser user: String, of app: String) async throws -> [PushSelection] {
        let found = try await installations.installations(of: app, .user(user), after: 0, limit: 1_000)
        return PushSelection.all(ofUser: user, with: found.map(\.installation))
    }

    /// Returns the pushes of a user, read in pages, oldest first by selection.
    package func pushes(ofUser user: String, of app: String = "orders") async throws -> [PushStatus] {
        var found: [PushStatus] = []
        for selection in try await selections(ofUser: user, of: app) {
            var cursor: Int64? = 0
            while let after = cursor {
                let page = try await records.pushes(selection, of: app, after: after, limit: 2)
                found += page.pushes
                cursor = page.next
            }
        }
        return found
    }

    /// Erases the pushes of a user, and returns the steps.
    package func erasePushes(
        ofUser user: String,
        of app: String = "orders",
        limit: Int = 2,
        at now: Int64
    ) async throws -> [ErasedPushes] {
        var steps: [ErasedPushes] = []
        for selection in try await selections(ofUser: user, of: app) {
            var cursor: Int64?
            repeat {
                let step = try await erasePushes(selection, of: app, before: cursor, limit: limit, at: now)
                steps.append(step)
                cursor = step.next
            } while cursor != nil
        }
        return steps
    }
}
