import Martlet
import MartletCommands
import MartletCore
import MartletOutbox
import MartletRelay

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
    static let data = Option<FilePath?>(
        "--data",
        "File or database (postgresql://…) that stores pushes, in place of the configuration's",
        variable: "MARTLET_RELAY_DATA"
    )

    static let declared = Group(
        configurationFile,
        data,
        Option<RelayConfiguration.Address?>(
            "--listen-production",
            "Address for APNs clients of production, such as 127.0.0.1:2197"
        ),
        Option<RelayConfiguration.Address?>("--listen-development", "Address for APNs clients of development"),
        Option<RelayConfiguration.Address?>("--http", "Address of the HTTP interface, such as 127.0.0.1:8198"),
        Option<Logger.Level?>("--log-level", "Lowest level that is logged"),
        Option<Logger.Format?>("--log-format", "Format of the log")
    ) { file, data, production, development, http, level, format in
        var overrides = RelayOverrides()
        overrides.data = data.map { data in
            if case .database = OutboxPlace(data.path) { data.path } else { absolute(data.path) }
        }
        overrides.listeners[.production] = production?.description
        overrides.listeners[.development] = development?.description
        overrides.http = http?.description
        overrides.logLevel = level
        overrides.logFormat = format
        return RelayOptions(file: file, overrides: overrides)
    }

    /// Reads the configuration from the file.
    ///
    /// - Throws: ``UsageError`` if a setting is invalid or a file cannot be read.
    func configuration() throws(UsageError) -> RelayConfiguration {
        do throws(RelayError) {
            return try checkedConfiguration()
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Reads the configuration for a command that validates it.
    ///
    /// - Throws: ``UsageError`` if its file cannot be read or is not valid JSON, and ``RelayError`` if a setting is
    ///   invalid.
    func configurationToCheck() throws -> RelayConfiguration {
        _ = try JSONValue(file.bytes(), file.label)
        return try checkedConfiguration()
    }

    private func checkedConfiguration() throws(RelayError) -> RelayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var overrides = overrides
        overrides.openTelemetry = environment.filter { $0.key.hasPrefix("OTEL_") }
        return try RelayConfiguration(
            file: file.path,
            overrides: overrides,
            credentials: environment["CREDENTIALS_DIRECTORY"]
        )
    }

    /// Returns the absolute path, because a relative path in the configuration is relative to its file.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

extension Logger.Level: ArgumentValue {}
extension Logger.Format: ArgumentValue {}
