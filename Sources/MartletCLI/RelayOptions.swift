// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletOutbox
import MartletRelay
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options for the configuration of a relay: a file, and values that override settings of the file.
struct RelayOptions: Sendable {
    private var file: InputFile
    private var overrides: RelayOverrides

    static let configurationFile = Option(
        "--configuration",
        "JSON file with apps, keys, callers and addresses",
        default: InputFile(argument: "relay.json")
    )
    /// The options that replace settings of the file.
    private static let replacements = SettingOption.all.map { option in
        Option<String?>(
            "--" + option.name,
            option.help,
            valueName: option.choices.isEmpty ? (option.isFile ? "path" : "address") : nil,
            choices: option.choices,
            isFile: option.isFile,
            variable: option.variable
        ) { (text) throws(UsageError) in
            do throws(RelayError) {
                try option.check(text)
            } catch {
                throw UsageError("\(error)")
            }
        }
    }

    static let declared = Group(configurationFile, Group(all: replacements) { $0 }) { file, values in
        var overrides = RelayOverrides()
        for (option, value) in zip(SettingOption.all, values) {
            guard let value else { continue }
            overrides.set(option, to: option.isFile ? absolute(value) : value)
        }
        return RelayOptions(file: file, overrides: overrides)
    }

    /// Reads standard input if it is the configuration.
    ///
    /// - Throws: ``UsageError`` if it cannot be read or is empty.
    func readStandardInput() throws(UsageError) {
        _ = try file.standardInput()
    }

    /// Reads the configuration from the file.
    ///
    /// A file is read each time, because a reload applies its changes; standard input is read once.
    ///
    /// - Throws: ``UsageError`` if a setting is invalid or a file cannot be read.
    func configuration() throws(UsageError) -> RelayConfiguration {
        let content = try file.standardInput()
        do throws(RelayError) {
            return try checkedConfiguration(content: content)
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Returns the location of the outbox in a configuration.
    ///
    /// - Throws: ``UsageError`` if a setting is invalid or a file cannot be read.
    static func location(in file: InputFile) throws(UsageError) -> OutboxLocation {
        let content = try file.standardInput()
        do throws(RelayError) {
            return try RelayConfiguration(file: file.path, content: content).data
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Reads the configuration for a command that validates it.
    ///
    /// - Throws: ``UsageError`` if its file cannot be read or is not valid JSON, and ``RelayError`` if a setting is
    ///   invalid.
    func configurationToCheck() throws -> RelayConfiguration {
        let content = try file.bytes()
        _ = try JSONValue(content, file.label)
        // A relay needs a file, because it reads the file again when it reloads the configuration.
        return try checkedConfiguration(content: file.isJSONText ? nil : content)
    }

    private func checkedConfiguration(content: [UInt8]?) throws(RelayError) -> RelayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var overrides = overrides
        overrides.openTelemetry = environment.filter { $0.key.hasPrefix("OTEL_") }
        overrides.proxies = HTTPProxies(environment: environment)
        return try RelayConfiguration(
            file: file.path,
            content: content,
            overrides: overrides,
            credentials: environment["CREDENTIALS_DIRECTORY"]
        )
    }

    /// Returns the absolute path, because a relative path in the configuration is relative to its file; the address of
    /// a database is unchanged.
    private static func absolute(_ path: String) -> String {
        if case .database = OutboxLocation(path) { return path }
        return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

extension InputFile {
    /// Returns the bytes of standard input; nil if this is another file.
    fileprivate func standardInput() throws(UsageError) -> [UInt8]? {
        guard isStandardInput else { return nil }
        return try bytes()
    }
}
