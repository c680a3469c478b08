import APNs
import APNsClient
import Commands
import Outbox
import Relay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options that say what a relay serves: a file, and what stands in for some of it.
struct RelayOptions: Sendable {
    private var file: String
    private var overrides: RelayOverrides

    static let declared = Group(
        Option("--configuration", "JSON file with apps, keys, callers and addresses", default: "relay.json"),
        Option<String?>(
            "--data",
            "File or database (postgresql://…) that pushes are kept in, in place of the configuration's"
        ),
        Option<String?>("--listen-production", "Address for APNs clients that mean production, as in 127.0.0.1:2197"),
        Option<String?>("--listen-development", "Address for APNs clients that mean development"),
        Option<String?>("--http", "Address of the interface in JSON, as in 127.0.0.1:8198"),
        Option<Logger.Level?>("--log-level", "The least that is logged"),
        Option<Logger.Format?>("--log-format", "How lines of the log are written")
    ) { file, data, production, development, http, level, format in
        var overrides = RelayOverrides()
        overrides.data = data.map { text in
            if case .database = OutboxPlace(text) { text } else { absolute(text) }
        }
        overrides.listeners[.production] = production
        overrides.listeners[.development] = development
        overrides.http = http
        overrides.logLevel = level
        overrides.logFormat = format
        return RelayOptions(file: file, overrides: overrides)
    }

    /// The configuration as it is now, read anew each time.
    func configuration() throws(RelayError) -> RelayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var overrides = overrides
        overrides.openTelemetry = environment.filter { $0.key.hasPrefix("OTEL_") }
        return try RelayConfiguration(
            file: file,
            overrides: overrides,
            credentials: environment["CREDENTIALS_DIRECTORY"]
        )
    }

    /// A path of the command line counts from where the command is called.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

extension Logger.Level: ArgumentValue {}
extension Logger.Format: ArgumentValue {}
