// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletOutbox
package import MartletTransport

/// The configuration of a relay: apps with their keys, callers, addresses and limits.
///
/// ``settings`` has the purpose of each property that a setting of the file changes.
package struct RelayConfiguration: Sendable {
    package var data: OutboxLocation
    package var node = "relay"
    package var outbox = SQLiteOutbox.Options()
    /// The keys that encrypt tokens and payloads in the outbox; nil, the default, to store them as they are.
    package var sealingKeys: SealingKeys?
    /// The maximum time for a database statement that needs a few rows; 3 seconds by default.
    package var statementTime = Duration.seconds(3)
    package var apps: [App]
    package var callers: [Caller] = []
    package var listeners: [PushEnvironment: Address]
    package var http: Address?
    /// Whether routes that need the scope `manage` are also served on ``listeners``; false by default, so that an
    /// address for callers gives no administrative access.
    package var managesOverListeners = false
    /// The maximum size of a JSON request in bytes, except for batches, which are read while they arrive.
    var longestBody = 4 << 20
    /// The maximum number of HTTP/1.1 connections, further limited by the process's file descriptors.
    var connections = 16_384
    /// The maximum number of HTTP/1.1 connections: half of the descriptors are left for callers over HTTP/2,
    /// connections to Apple and files.
    var connectionLimit: Int { min(connections, DescriptorLimit.current / 2) }
    /// The certificate and key of the relay; nil for HTTP/2 without TLS.
    package var identity: TLSContext.Identity?
    package var clientAuthorities: String?
    /// The servers that replace Apple's, by environment; Apple's own by default.
    package var endpoints: [PushEnvironment: LaneEndpoint] = [:]
    /// The HTTP proxies for connections to Apple, to webhooks and to the collector of traces; none by default.
    package var proxies = HTTPProxies()
    /// The time for which an APNs client waits for Apple's answer before it gets a 200 that means that the push is
    /// stored.
    ///
    /// It is shorter than the time-outs of common clients, the shortest of which is 5 seconds (node-apn): a client that
    /// times out sends the push again, often with another identifier, and the device receives it twice.
    package var answerTime = Duration.seconds(3)
    /// The time for which the outcome of a push is stored, in milliseconds; 7 days by default.
    package var retention: Int64 = 7 * 86_400_000
    /// The maximum number of streams that a caller may have open on a connection.
    package var streamsPerConnection: UInt32 = 1_000
    package var logLevel = Logger.Level.info
    /// The format of the log; nil for JSON, or for a readable format if the log goes to a terminal.
    package var logFormat: Logger.Format?
    package var telemetry: TelemetrySettings?
    var limits = DeliveryMachine.Limits()
    var loadLimits = LoadGate.Limits()

    /// Creates a configuration with the defaults for everything that is not passed.
    package init(data: OutboxLocation, apps: [App], listeners: [PushEnvironment: Address]) {
        self.data = data
        self.apps = apps
        self.listeners = listeners
    }
}

extension RelayConfiguration {
    /// The defaults of the settings that have one.
    private static let defaults = RelayConfiguration(data: .file(""), apps: [], listeners: [:])

    static let apps = SettingKey<[App]>("apps", .list(of: .object), .required, .reload)
        .help("apps that pushes are sent for")
    static let certificate = SettingKey("certificate", .file, .none, .reload)
        .help(
            "PEM certificate chain of `listen`; without it `listen` speaks HTTP/2 without TLS."
                + " Adding or removing it needs a restart"
        )
    static let certificateKey = SettingKey(
        "certificate-key",
        .secretFile,
        .described("required with `certificate`"),
        .reload
    )
    .help("PEM private key of the certificate, not encrypted")

    /// The settings of which a configuration needs at least one.
    static let addresses = ["listen", "http"]

    /// The settings of the file.
    static let settings: [Setting<Self>] = [
        Setting(SettingKey("data", .outbox, .required, .restart, option: .variable("MARTLET_RELAY_DATA")), \.data)
            .help("SQLite file of this relay alone, or PostgreSQL database that several relays share"),
        Setting(SettingKey("node", .text, .described("host name"), .restart), \.node)
            .help("name of this relay among those that share a database"),
        Setting(SettingKey("durability", .choice, .value(defaults.outbox.durability), .restart), \.outbox.durability)
            .help("what a commit to a file survives: a loss of power, or the end of the process"),
        Setting(SettingKey("sealing-keys", .sealingKeys, .none, .reload), \.sealingKeys)
            .help("file with the keys that encrypt tokens and payloads in `data`"),
        Setting(
            SettingKey("limit", .integer(1...1_000_000_000), .value(defaults.outbox.limit), .restart),
            \.outbox.limit
        )
        .help("number of pushes that may wait"),
        Setting(SettingKey("retention-days", .days(1...3_650), .value(defaults.retention), .reload), \.retention)
            .help("number of days that outcomes are kept"),
        Setting(
            SettingKey(
                "listen",
                .environments(
                    .address,
                    fallback: "none",
                    .restart,
                    "address for APNs clients of `{environment}`, HTTP/2",
                    option: .named
                ),
                .none,
                .restart
            ),
            \.listeners
        ).help("addresses for APNs clients; `listen` or `http` is required"),
        Setting(SettingKey("http", .address, .none, .restart, option: .named), \.http)
            .help("address of the JSON interface and the status page, HTTP/1.1 without TLS"),
        Setting(
            SettingKey("manage-over-listen", .flag, .value(defaults.managesOverListeners), .reload),
            \.managesOverListeners
        )
        .help("whether requests that need the scope `manage` are answered on `listen`, too"),
        Setting(separate: certificate),
        Setting(separate: certificateKey),
        Setting(SettingKey("client-authorities", .file, .none, .reload), \.clientAuthorities)
            .help("PEM certificates of the authorities that issue certificates for callers"),
        Setting(SettingKey("answer-seconds", .seconds(0...60), .value(defaults.answerTime), .reload), \.answerTime)
            .help(
                "seconds that an APNs client waits for Apple's answer before it gets 200 with"
                    + " `x-martlet-state: accepted`"
            ),
        Setting(SettingKey("log-level", .choice, .value(defaults.logLevel), .reload, option: .named), \.logLevel)
            .help("lowest level that is logged"),
        Setting(
            SettingKey("log-format", .choice, .described("`json`, or `plain` on a terminal"), .restart, option: .named),
            \.logFormat
        )
        .help("format of the log"),
        Setting(
            SettingKey(
                "telemetry",
                .object(TelemetrySettings.settings) { (_, _) throws(RelayError) in nil },
                .none,
                .restart
            ),
            \.telemetry
        )
        .help("export of traces to OpenTelemetry"),
        Setting(separate: apps),
        Setting(SettingKey("callers", .list(of: .object), .none, .reload), \.callers).help(
            "callers, each with an API key or a client certificate"
        ),
        Setting(
            SettingKey(
                "apple",
                .environments(.object, fallback: "Apple's server", .restart, "server of that environment"),
                .described("Apple's servers"),
                .restart
            ),
            \.endpoints
        ).help("servers in place of Apple's, for tests"),
    ]
}
