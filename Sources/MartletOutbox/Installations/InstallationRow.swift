// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The forms of an installation's tokens, tags and activities in one column, and of its attributes and permissions in
/// several.
///
/// Both engines return the tokens, the tags, and the activities as a JSON array, so that one statement reads an
/// installation.
enum InstallationRow {
    /// The columns of the attributes, in the order of ``Installation/Attribute``.
    static let attributes = "locale, time_zone, app_version, system_version, model"
    /// The columns of the permissions, in the order of ``Installation/Permission``.
    static let permissions = "alerts, live_activities, frequent_updates"

    /// Returns the tokens of a JSON array of arrays with kind, name, token and time of registration each.
    static func tokens(_ text: String?) -> [Installation.TokenSlot: Installation.RegisteredToken] {
        var tokens: [Installation.TokenSlot: Installation.RegisteredToken] = [:]
        for parts in elements(text).map({ $0.elements ?? [] }) {
            guard parts.count == 4, let kind = parts[0].stringValue.flatMap(Installation.TokenKind.init(rawValue:)),
                let name = parts[1].stringValue, let hex = parts[2].stringValue,
                let token = DeviceToken(stored: hex), let time = parts[3].integerValue
            else { continue }
            tokens[Installation.TokenSlot(kind, name)] = .init(token, registeredAt: time)
        }
        return tokens
    }

    /// The columns of the activities, in the order of their JSON arrays.
    static let activityColumns = "id, surface, started_at, started_by, ended_by, ended_at"

    /// Returns the activities of a JSON array of arrays with the values of ``activityColumns`` each.
    static func activities(_ text: String?) -> [String: Installation.Activity] {
        var activities: [String: Installation.Activity] = [:]
        for parts in elements(text).map({ $0.elements ?? [] }) {
            guard parts.count == 6, let id = parts[0].stringValue, let surface = parts[1].stringValue else { continue }
            var activity = Installation.Activity(of: surface)
            activity.startedAt = parts[2].integerValue
            activity.startedBy = parts[3].stringValue.flatMap(Installation.Activity.Starter.init(rawValue:))
            if let cause = parts[4].stringValue.flatMap(Installation.Activity.End.Cause.init(rawValue:)),
                let time = parts[5].integerValue
            {
                activity.end = .init(cause, at: time)
            }
            activities[id] = activity
        }
        return activities
    }

    /// Returns activities as a JSON array, in the order of their identifiers.
    static func text(of activities: [String: Installation.Activity]) -> String {
        let rows = activities.sorted { $0.key < $1.key }.map { id, activity in
            JSONValue.array([
                .string(id), .string(activity.surface), activity.startedAt.map { JSONValue.integer($0) } ?? .null,
                activity.startedBy.map { JSONValue.string($0.rawValue) } ?? .null,
                activity.end.map { JSONValue.string($0.cause.rawValue) } ?? .null,
                activity.end.map { JSONValue.integer($0.time) } ?? .null,
            ])
        }
        return String(decoding: JSONValue.array(rows).encoded(), as: UTF8.self)
    }

    /// Returns the tags of a JSON array.
    static func tags(_ text: String?) -> Set<String> { Set(texts(text)) }

    /// Returns the texts of a JSON array.
    static func texts(_ text: String?) -> [String] { elements(text).compactMap(\.stringValue) }

    /// Returns tags as a JSON array.
    static func text(_ tags: Set<String>) -> String { text(of: tags.sorted()) }

    /// Returns texts as a JSON array.
    static func text(of texts: [String]) -> String {
        String(decoding: JSONValue.strings(texts).encoded(), as: UTF8.self)
    }

    /// Returns the permissions of the columns ``permissions``.
    static func permissionValues(
        _ row: borrowing some DatabaseRow & ~Copyable,
        from start: Int
    ) -> [Installation.Permission: Bool] {
        var permissions: [Installation.Permission: Bool] = [:]
        for (column, permission) in zip(start..., Installation.Permission.allCases) {
            permissions[permission] = row.optionalInteger(at: column).map { $0 != 0 }
        }
        return permissions
    }

    private static func elements(_ text: String?) -> [JSONValue] {
        text.flatMap { try? JSONReader.read(Array($0.utf8)) }?.elements ?? []
    }
}

extension Installation {
    /// The values of the columns ``InstallationRow/attributes``.
    var attributeColumns: [String?] { Attribute.allCases.map { attributes[$0] } }

    /// The values of the columns ``InstallationRow/permissions``.
    var permissionColumns: [Int64?] { Permission.allCases.map { permissions[$0].map { $0 ? 1 : 0 } } }
}

extension StoredInstallation {
    /// Reads the columns that both engines select, in the order of ``InstallationTable/columns``; the fourth one is the
    /// app.
    init?(_ row: borrowing some DatabaseRow & ~Copyable, app: String) {
        guard let id = InstallationID(bytes: row.bytes(at: 2)) else { return nil }
        var installation = Installation(
            id: id,
            app: app,
            user: row.text(at: 4),
            environment: row.environment(at: 5),
            bundleID: row.text(at: 6),
            at: row.integer(at: 7)
        )
        installation.changedAt = row.integer(at: 8)
        installation.seenAt = row.integer(at: 9)
        for (column, attribute) in zip(10..., Installation.Attribute.allCases) {
            installation.attributes[attribute] = row.optionalText(at: column)
        }
        installation.permissions = InstallationRow.permissionValues(row, from: 15)
        installation.tokens = InstallationRow.tokens(row.optionalText(at: 18))
        installation.tags = InstallationRow.tags(row.optionalText(at: 19))
        installation.activities = InstallationRow.activities(row.optionalText(at: 20))
        self.init(number: row.integer(at: 0), revision: row.integer(at: 1), installation: installation)
    }
}

extension AudienceMember {
    /// Reads thirteen columns: identifier, user, environment, bundle identifier, three permissions, token, locale, time
    /// zone, version of the app, version of the system, number.
    init?(_ row: borrowing some DatabaseRow & ~Copyable) {
        guard let id = InstallationID(bytes: row.bytes(at: 0)) else { return nil }
        self.init(
            number: row.integer(at: 12),
            installation: id,
            user: row.text(at: 1),
            environment: row.environment(at: 2),
            bundleID: row.text(at: 3),
            permissions: InstallationRow.permissionValues(row, from: 4),
            token: row.optionalText(at: 7).flatMap(DeviceToken.init(stored:)),
            locale: row.optionalText(at: 8),
            timeZone: row.optionalText(at: 9),
            appVersion: row.optionalText(at: 10),
            systemVersion: row.optionalText(at: 11)
        )
    }
}

extension AudiencePage {
    /// Adds an installation if it matches: the columns of a member, followed by the tags.
    mutating func examine(
        _ row: borrowing some DatabaseRow & ~Copyable,
        of scan: AudienceScan,
        knownTags: Set<String>,
        limit: Int
    ) {
        examined += 1
        if examined == limit { next = row.integer(at: 12) }
        let candidate = AudienceCandidate(
            environment: row.environment(at: 2),
            locale: row.optionalText(at: 8),
            appVersion: row.optionalText(at: 10),
            systemVersion: row.optionalText(at: 11),
            tags: InstallationRow.tags(row.optionalText(at: 13)).union(knownTags)
        )
        guard scan.expression.condition.matches(candidate), let member = AudienceMember(row) else { return }
        members.append(member)
    }
}
