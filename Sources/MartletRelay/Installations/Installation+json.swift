// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

extension Installation {
    /// The installation as the API returns it, with its tokens, which are personal data.
    var json: JSONValue { json(prefix: "", \.hex) }

    /// The installation with shortened tokens.
    var summary: JSONValue { json(prefix: "short-", \.description) }

    /// Returns the installation with its tokens as texts, in members whose names have a prefix.
    private func json(prefix: String, _ text: (DeviceToken) -> String) -> JSONValue {
        let permissions = Permission.allCases.compactMap { permission in
            self.permissions[permission].map { JSONValue.Member(permission.rawValue, .bool($0)) }
        }
        var members: [JSONValue.Member] = [
            .init("id", .string(id.description)), .init("app", .string(app)), .init("user", .string(user)),
            .init("environment", .string(environment.rawValue)), .init("bundle-id", .string(bundleID)),
            .init(prefix + "tokens", tokensInJSON(text)), .init("activities", activitiesInJSON(prefix, text)),
        ]
        members += Attribute.allCases.compactMap { attribute in
            attributes[attribute].map { JSONValue.Member(attribute.rawValue, .string($0)) }
        }
        members += [
            .init("permissions", .object(permissions)), .init("tags", .strings(tags.sorted())),
            .init("created-at", .whole(createdAt)), .init("changed-at", .whole(changedAt)),
            .init("seen-at", .whole(seenAt)),
        ]
        return .object(members)
    }

    private func tokensInJSON(_ text: (DeviceToken) -> String) -> JSONValue {
        .object(
            InstallationReader.tokenMembers.compactMap { (name, kind) -> JSONValue.Member? in
                let own = tokens.filter { $0.key.kind == kind }.sorted { $0.key.name < $1.key.name }
                guard let first = own.first else { return nil }
                guard kind.hasNames else { return .init(name, .string(text(first.value.token))) }
                return .init(name, .object(own.map { .init($0.key.name, .string(text($0.value.token))) }))
            }
        )
    }

    private func activitiesInJSON(_ prefix: String, _ text: (DeviceToken) -> String) -> JSONValue {
        .object(
            activities.sorted { $0.key < $1.key }.map { id, activity in
                let token = tokens[TokenSlot(.activity, id)]?.token
                var members: [JSONValue.Member] = [.init("surface", .string(activity.surface))]
                if let token { members.append(.init(prefix + "token", .string(text(token)))) }
                if let time = activity.startedAt { members.append(.init("started-at", .whole(time))) }
                if let starter = activity.startedBy { members.append(.init("started-by", .string(starter.rawValue))) }
                if let end = activity.end {
                    members.append(.init("ended", ["cause": .string(end.cause.rawValue), "at": .whole(end.time)]))
                }
                return JSONValue.Member(id, .object(members))
            }
        )
    }
}
