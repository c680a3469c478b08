// SPDX-License-Identifier: Apache-2.0

#if ConfigurationSupport
    public import Configuration
    internal import MartletCore
    internal import MartletTransport

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension PushClient {
        /// Creates a client from a configuration, such as one of environment variables or files.
        ///
        /// The keys, to be prefixed by the reader's scope: `key-file` with the path of a `.p8` file or `key` with its
        /// text, `key-id` and `team-id`, all required; `environment` with `production` (the default) or `development`;
        /// `host` and `port` of a relay or simulator, which replace the environment; and the keys of
        /// ``Configuration/init(config:)``. With environment variables and the scope `apns`, they are
        /// `APNS_KEY_FILE`, `APNS_KEY_ID` and so on. If the configuration has no proxy, the variables of the process
        /// select one, as ``Proxy/from(environment:for:)`` describes.
        ///
        /// - Parameters:
        ///   - config: The keys, read once.
        ///   - configuration: The settings of the client; by default ``Configuration/init(config:)``.
        /// - Throws: `ConfigError` for a missing or invalid value, and ``APNsError`` with the code `badCredentials`
        ///   when the key cannot be used, or `invalid` when a variable does not name an HTTP proxy.
        public convenience init(config: ConfigReader, configuration: Configuration? = nil) throws {
            try self.init(
                config: config,
                configuration: configuration,
                environment: ProcessInfo.processInfo.environment
            )
        }

        /// Creates a client with the proxy that the variables of an environment select.
        package convenience init(
            config: ConfigReader,
            configuration: Configuration?,
            environment: [String: String]
        ) throws {
            let keyID = try config.requiredString(forKey: "key-id")
            let teamID = try config.requiredString(forKey: "team-id")
            let key =
                if let text = config.string(forKey: "key", isSecret: true) {
                    try SigningKey(pem: text, keyID: keyID, teamID: teamID)
                } else {
                    try SigningKey(
                        // It may be the text of the key, which a reporter of the configuration must not log.
                        file: try config.requiredString(forKey: "key-file", isSecret: true),
                        keyID: keyID,
                        teamID: teamID
                    )
                }
            let endpoint = try APNsEndpoint(config: config)
            var settings = try configuration ?? Configuration(config: config)
            if settings.proxy == nil {
                settings.proxy = try Proxy.from(environment: environment, for: endpoint)
            }
            try self.init(endpoint, authentication: .token(key), configuration: settings)
        }
    }

    extension PushClient.Configuration {
        /// Creates a configuration from the values that are there, and the default values for the others.
        ///
        /// The keys: `connect-timeout`, `send-timeout` (seconds), `connection-limit`, `event-loops`, `waiting-limit`,
        /// `allows-retries`, `checks-before-sending`, `authorities-file` with the path of PEM certificates to trust,
        /// and `proxy` with the URL of an HTTP proxy.
        ///
        /// - Parameter config: The configuration.
        /// - Throws: ``APNsError`` with the code `badCredentials` when the file of authorities cannot be read, and with
        ///   the code `invalid` for a value outside of its range.
        public init(config: ConfigReader) throws {
            self.init()
            connectTimeout = try Self.timeout("connect-timeout", config) ?? connectTimeout
            sendTimeout = try Self.timeout("send-timeout", config) ?? sendTimeout
            connectionLimit = max(1, config.int(forKey: "connection-limit", default: connectionLimit))
            eventLoops = max(1, config.int(forKey: "event-loops", default: eventLoops))
            waitingLimit = config.int(forKey: "waiting-limit", default: waitingLimit)
            allowsRetries = config.bool(forKey: "allows-retries", default: allowsRetries)
            checksBeforeSending = config.bool(forKey: "checks-before-sending", default: checksBeforeSending)
            if let url = config.string(forKey: "proxy", isSecret: true) {
                proxy = try PushClient.Proxy(url: url)
            }
            if let file = config.string(forKey: "authorities-file") {
                do throws(FileError) {
                    additionalAuthorities = try FileContents.textOrPEM(file)
                } catch {
                    throw APNsError(.badCredentials, description: "the file of authorities \(error)")
                }
            }
        }

        private static func timeout(_ name: String, _ config: ConfigReader) throws(APNsError) -> Duration? {
            guard let seconds = config.double(forKey: ConfigKey(name)) else { return nil }
            // A `Duration` cannot be created from every number.
            guard (0...86_400).contains(seconds) else {
                throw APNsError(.invalid, description: "\(name) must be from 0 to 86400 seconds (found \(seconds))")
            }
            return .seconds(seconds)
        }
    }

    extension APNsEndpoint {
        fileprivate init(config: ConfigReader) throws {
            if let host = config.string(forKey: "host") {
                let port = config.int(forKey: "port", default: 443)
                guard let port = UInt16(exactly: port) else {
                    throw APNsError(.invalid, description: "port must be from 0 to 65535 (found \(port))")
                }
                self.init(host: host, port: port)
                return
            }
            switch config.string(forKey: "environment", default: "production") {
            case "production": self = .production
            case "development": self = .development
            case let other:
                throw APNsError(
                    .invalid,
                    description: "environment must be production or development (found \(ShownValue.quoted(other)))"
                )
            }
        }
    }
#endif
