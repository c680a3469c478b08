// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension SettingType where Value == OutboxLocation {
    static let outbox = {
        var type = SettingType("path or PostgreSQL connection string", schema: ["type": "string", "minLength": 1]) {
            (field, places) throws(RelayError) in
            places.outbox(try field.nonemptyText())
        }
        type.description.isFile = true
        return type
    }()
}

extension SettingType where Value == SealingKeys {
    /// The keys of a file that not every user can read, named by its path.
    static let sealingKeys = SettingType("path", schema: ["type": "string", "minLength": 1]) {
        (field, places) throws(RelayError) in
        let name = try field.nonemptyText()
        let text = try places.text(name, isSecret: true, field.path.description)
        let keys: SealingKeys
        do throws(SealingKeysError) {
            keys = try SealingKeys(text)
        } catch {
            throw field.error("must be a file of keys: \(error)")
        }
        let path = places.secret(name)
        guard !FileContents.isReadableByEveryone(path) else {
            throw field.error("must be a file that other users cannot read: run chmod 600 \(ShownValue(path))")
        }
        return keys
    }
}

extension SettingType where Value == RelayConfiguration.Address {
    /// An address to listen on, such as `127.0.0.1:2197` or `[::1]:2197`.
    static let address = {
        @Sendable func read(_ field: ConfigurationField) throws(RelayError) -> RelayConfiguration.Address {
            let text = try field.text()
            guard let address = RelayConfiguration.Address(text) else {
                throw field.error("\(RelayConfiguration.Address.rule) (found \(ShownValue.quoted(text)))")
            }
            return address
        }
        var type = SettingType("IP address with port", schema: ["type": "string", "pattern": #":[0-9]{1,5}$"#]) {
            (field, _) throws(RelayError) in
            try read(field)
        }
        type.description.checkText = { (text) throws(RelayError) in
            _ = try read(ConfigurationField(.string(text), named: ""))
        }
        return type
    }()
}

extension SettingType where Value == [String] {
    /// A list of at least one bundle identifier.
    static let bundleIdentifiers = SettingType(
        "list of text",
        schema: ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]]
    ) { (field, places) throws(RelayError) in
        let texts = try SettingType<[String]>.texts.read(field, places)
        for (index, text) in texts.enumerated() {
            // Messages and pages show bundle identifiers.
            guard !Topic.isBundleIdentifier(text) || !ShownValue(text).isWhole else { continue }
            let found = ShownValue.quoted(text)
            throw field[index].error("must be one bundle identifier, such as com.example.orders (found \(found))")
        }
        return texts
    }
}

extension SettingType where Value == String {
    /// A host name or an IP address.
    static let host = SettingType("host name or IP address", schema: ["type": "string", "minLength": 1]) {
        (field, _) throws(RelayError) in
        let text = try field.nonemptyText()
        guard SubjectName.isHost(text) else {
            throw field.error("must be a host name or an IP address without a port (found \(ShownValue.quoted(text)))")
        }
        return text
    }

    /// A team or a key, as in Apple's developer account.
    static let identifier = SettingType(
        "ten characters of A-Z and 0-9",
        schema: ["type": "string", "pattern": "^[A-Z0-9]{10}$"]
    ) { (field, _) throws(RelayError) in
        let text = try field.nonemptyText()
        guard SigningKey.isIdentifier(text) else { throw field.mismatch("ten characters of A-Z and 0-9") }
        return text
    }
}

extension SettingType where Value == Date {
    /// A date, or a time in UTC.
    static let date = SettingType(
        "date or UTC time",
        schema: ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}"]
    ) {
        (field, _) throws(RelayError) in
        let text = try field.nonemptyText()
        let time = text.utf8.contains(UInt8(ascii: "T")) ? text : text + "T00:00:00Z"
        // Foundation parses February 30 as March 2, so compare the text of the result.
        guard let date = try? Date(time, strategy: .iso8601),
            Timestamp.text(date.millisecondsSince1970) == time.dropLast() + ".000Z"
        else { throw field.mismatch("a date or a time in UTC, such as 2027-01-31 or 2027-01-31T12:00:00Z") }
        return date
    }
}

extension SettingType {
    /// Returns the type of objects that have a value for each of some of Apple's environments.
    ///
    /// In the help, `{environment}` stands for the environment. The fallback describes the default for an environment.
    static func environments<Element>(
        _ element: SettingType<Element>,
        fallback: String,
        _ change: SettingDeclaration.Change,
        _ help: String,
        option: SettingDeclaration.Option = .none
    ) -> SettingType where Value == [PushEnvironment: Element] {
        var type = SettingType("object", schema: ["type": "object"]) { (field, places) throws(RelayError) in
            try field.checkMembers(PushEnvironment.allCases.map(\.rawValue))
            var values: [PushEnvironment: Element] = [:]
            for environment in PushEnvironment.allCases {
                guard let member = field[environment.rawValue].ifPresent else { continue }
                values[environment] = try element.read(member, places)
            }
            return values
        }
        type.description.members = [
            SettingDeclaration(
                name: "{environment}",
                type: element.description,
                fallback: fallback,
                fallbackValue: nil,
                change: change,
                help: help,
                option: option
            )
        ]
        type.description.nesting = .environments
        return type
    }
}
