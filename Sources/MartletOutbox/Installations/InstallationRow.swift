// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The forms of an installation's tokens and tags in one column, and of its attributes and permissions in several.
///
/// Both engines return the tokens, and the tags, as a JSON array, so that one statement reads an installation.
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

    /// Returns the tags of a JSON array.
    static func tags(_ text: String?) -> Set<String> { Set(elements(text).compactMap(\.stringValue)) }

    /// Returns tags as a JSON array.
    static func text(_ tags: Set<String>) -> String { text(of: tags.sorted()) }

    /// Returns texts as a JSON array.
    static func text(of texts: [String]) -> String {
        String(decoding: JSONValue.strings(texts).encoded(), as: UTF8.self)
    }

    /// Returns the permissions of the columns ``permissions``.
    static func permissionValues(of flags: [Int64?]) -> [Installation.Permission: Bool] {
        var permissions: [Installation.Permission: Bool] = [:]
        for (permission, flag) in zip(Installation.Permission.allCases, flags) {
            permissions[permission] = flag.map { $0 != 0 }
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

    mutating func setAttributes(_ texts: [String?]) {
        attributes = [:]
        for (attribute, text) in zip(Attribute.allCases, texts) { attributes[attribute] = text }
    }
}
