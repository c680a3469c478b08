// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The forms of an installation's tokens and tags in one column, and of its attributes and permissions in several.
///
/// Both engines join the tokens, and the tags, with line breaks and tabs, which no name contains, so that one statement
/// reads an installation.
enum InstallationRow {
    /// The columns of the attributes, in the order of ``Installation/Attribute``.
    static let attributes = "locale, time_zone, app_version, system_version, model"
    /// The columns of the permissions, in the order of ``Installation/Permission``.
    static let permissions = "alerts, live_activities, frequent_updates"

    /// Returns the tokens of lines with kind, name, token and time of registration each.
    static func tokens(_ text: String?) -> [Installation.TokenSlot: Installation.RegisteredToken] {
        var tokens: [Installation.TokenSlot: Installation.RegisteredToken] = [:]
        for line in (text ?? "").split(separator: "\n") {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 4, let kind = Installation.TokenKind(rawValue: String(parts[0])),
                let token = try? DeviceToken(hex: parts[2]), let time = Int64(parts[3])
            else { continue }
            tokens[Installation.TokenSlot(kind, String(parts[1]))] = .init(token, registeredAt: time)
        }
        return tokens
    }

    /// Returns the tags of lines.
    static func tags(_ text: String?) -> Set<String> {
        Set((text ?? "").split(separator: "\n").map(String.init))
    }

    /// Returns tags as lines.
    static func text(_ tags: Set<String>) -> String { tags.sorted().joined(separator: "\n") }
}

extension Installation {
    /// The values of the columns ``InstallationRow/attributes``.
    var attributeColumns: [String?] { Attribute.allCases.map { attributes[$0] } }

    /// The values of the columns ``InstallationRow/permissions``.
    var permissionColumns: [Int64?] { Permission.allCases.map { permissions[$0].map { $0 ? 1 : 0 } } }

    mutating func setAttributes(_ texts: [String?]) {
        attributes = [:]
        for (attribute, text) in zip(Attribute.allCases, texts) { attributes[attribute] = text }
    }

    mutating func setPermissions(_ flags: [Int64?]) {
        permissions = [:]
        for (permission, flag) in zip(Permission.allCases, flags) { permissions[permission] = flag.map { $0 != 0 } }
    }
}
