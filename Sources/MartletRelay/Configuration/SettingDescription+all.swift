extension SettingDescription {
    /// All settings, in the order of the article.
    static let all: [SettingDescription] = files + apps + webhooks + callers + apple + telemetry

    private static let files = [
        SettingDescription(
            "",
            "data",
            "path or `postgresql://` address",
            nil,
            .restart,
            "SQLite file of this relay alone, or PostgreSQL database that several relays share"
        ),
        SettingDescription(
            "",
            "node",
            "text",
            "host name",
            .restart,
            "name of this relay among those that share a database"
        ),
        SettingDescription(
            "",
            "durability",
            "`full` or `relaxed`",
            "`full`",
            .restart,
            "what a commit to a file survives: a loss of power, or the end of the process"
        ),
        SettingDescription("", "limit", "1 to 1000000000", "10000000", .restart, "number of pushes that may wait"),
        SettingDescription("", "retention-days", "1 to 3650", "7", .reload, "number of days that outcomes are kept"),
        SettingDescription(
            "",
            "listen",
            "object",
            "none",
            .restart,
            "addresses for APNs clients; `listen` or `http` must be there"
        ),
        SettingDescription(
            "listen",
            "{environment}",
            "IP address with port",
            "none",
            .restart,
            "address for pushes of that environment, HTTP/2"
        ),
        SettingDescription(
            "",
            "http",
            "IP address with port",
            "none",
            .restart,
            "address of the JSON interface and the status page, HTTP/1.1 without TLS"
        ),
        SettingDescription(
            "",
            "manage-over-listen",
            "`true` or `false`",
            "`false`",
            .reload,
            "whether requests that need the scope `manage` are answered on `listen`, too"
        ),
        SettingDescription(
            "",
            "certificate",
            "path",
            "none",
            .reload,
            "PEM certificate chain of `listen`; without it `listen` speaks HTTP/2 without TLS"
        ),
        SettingDescription(
            "",
            "certificate-key",
            "path",
            "required with `certificate`",
            .reload,
            "PEM private key of the certificate"
        ),
        SettingDescription(
            "",
            "client-authorities",
            "path",
            "none",
            .reload,
            "PEM certificates of the authorities that issue certificates for callers"
        ),
        SettingDescription(
            "",
            "answer-seconds",
            "0 to 60",
            "3",
            .reload,
            "seconds that an APNs client waits for Apple's answer before it gets 200 with `x-martlet-state: accepted`"
        ),
        SettingDescription(
            "",
            "log-level",
            "`debug`, `info`, `warning` or `error`",
            "`info`",
            .reload,
            "lowest level that is logged"
        ),
        SettingDescription(
            "",
            "log-format",
            "`json`, `logfmt` or `plain`",
            "`json`, or `plain` on a terminal",
            .restart,
            "format of the log"
        ),
        SettingDescription(
            "",
            "telemetry",
            "object",
            "none",
            .restart,
            "export of traces and metrics to OpenTelemetry"
        ),
        SettingDescription("", "apps", "list of objects", nil, .reload, "apps that pushes are sent for"),
        SettingDescription("", "callers", "list of objects", "none", .reload, "API keys"),
        SettingDescription(
            "",
            "apple",
            "object",
            "Apple's servers",
            .restart,
            "servers in place of Apple's, for tests"
        ),
    ]

    private static let apps = [
        SettingDescription(
            "apps[]",
            "name",
            "letters, digits, `-`, `.`, `_`",
            nil,
            .reload,
            "name of the app in the interface, in logs and metrics"
        ),
        SettingDescription(
            "apps[]",
            "bundle-ids",
            "list of text",
            nil,
            .reload,
            "bundle identifiers of the app, without suffixes; the first is the default of a push"
        ),
        SettingDescription(
            "apps[]",
            "team-id",
            "ten characters of A-Z and 0-9",
            nil,
            .reload,
            "team of the signing key"
        ),
        SettingDescription("apps[]", "key-id", "ten characters of A-Z and 0-9", nil, .reload, "identifier of the key"),
        SettingDescription(
            "apps[]",
            "key-file",
            "path",
            nil,
            .reload,
            "signing key (`.p8`) from Apple's developer account"
        ),
        SettingDescription(
            "apps[]",
            "environments",
            "list of `production`, `development`",
            "`[\"production\"]`",
            .reload,
            "Apple's environments that the app is sent to; the first is the default of a push"
        ),
        SettingDescription(
            "apps[]",
            "rate",
            "1 to 1000000",
            "no limit",
            .reload,
            "maximum pushes per second in each environment, of all relays together"
        ),
        SettingDescription(
            "apps[]",
            "connections",
            "1 to 1000",
            "4 per relay",
            .reload,
            "maximum connections to Apple in each environment, of all relays together"
        ),
        SettingDescription(
            "apps[]",
            "webhook",
            "object",
            "none",
            .reload,
            "URL that unregistered tokens are reported to"
        ),
    ]

    private static let webhooks = [
        SettingDescription("apps[].webhook", "url", "URL", nil, .reload, "`https://` URL that reports are posted to"),
        SettingDescription(
            "apps[].webhook",
            "secret-file",
            "path",
            nil,
            .reload,
            "file with the signing secret: `whsec_` and the base64 of 24 to 64 bytes"
        ),
        SettingDescription(
            "apps[].webhook",
            "authorities",
            "path",
            "none",
            .reload,
            "PEM certificates to trust besides the system's"
        ),
        SettingDescription(
            "apps[].webhook",
            "allow-private",
            "`true` or `false`",
            "`false`",
            .reload,
            "whether private and loopback addresses may be called, and `http://`"
        ),
    ]

    private static let callers = [
        SettingDescription("callers[]", "name", "text", nil, .reload, "name of the key in logs"),
        SettingDescription(
            "callers[]",
            "key-sha256",
            "64 hexadecimal digits",
            "none",
            .reload,
            "SHA-256 of the key; each caller has a key of its own, or a certificate"
        ),
        SettingDescription(
            "callers[]",
            "certificate-sha256",
            "64 hexadecimal digits",
            "none",
            .reload,
            "SHA-256 of the client certificate in DER"
        ),
        SettingDescription(
            "callers[]",
            "certificate-subject",
            "text",
            "none",
            .reload,
            "subject of client certificates that an authority of `client-authorities` has issued"
        ),
        SettingDescription(
            "callers[]",
            "expires",
            "date or UTC time",
            "never",
            .reload,
            "time from which on the key or the certificate is refused"
        ),
        SettingDescription("callers[]", "apps", "list of text", nil, .reload, "apps that the key is for"),
        SettingDescription(
            "callers[]",
            "scopes",
            "list of `send`, `read`, `manage`",
            nil,
            .reload,
            "what the key allows; at least one"
        ),
    ]

    private static let apple = [
        SettingDescription(
            "apple",
            "{environment}",
            "object",
            "Apple's server",
            .restart,
            "server of that environment"
        ),
        SettingDescription(
            "apple.{environment}",
            "host",
            "host name or IP address",
            nil,
            .restart,
            "host of the server"
        ),
        SettingDescription("apple.{environment}", "port", "1 to 65535", "443", .restart, "port of the server"),
        SettingDescription(
            "apple.{environment}",
            "channel-port",
            "1 to 65535",
            "none",
            .restart,
            "port for requests about broadcast channels"
        ),
        SettingDescription(
            "apple.{environment}",
            "clear",
            "`true` or `false`",
            "`false`",
            .restart,
            "whether the server speaks HTTP/2 without TLS"
        ),
        SettingDescription(
            "apple.{environment}",
            "authorities",
            "path",
            "none",
            .restart,
            "PEM certificates to trust besides the system's"
        ),
    ]

    private static let telemetry = [
        SettingDescription(
            "telemetry",
            "endpoint",
            "URL",
            "none",
            .restart,
            "OTLP collector, as in `http://127.0.0.1:4318`"
        ),
        SettingDescription(
            "telemetry",
            "headers-file",
            "path",
            "none",
            .restart,
            "file with headers for the collector, `name=value` separated by commas or lines"
        ),
        SettingDescription(
            "telemetry",
            "authorities",
            "path",
            "none",
            .restart,
            "PEM certificates to trust besides the system's"
        ),
        SettingDescription(
            "telemetry",
            "service-name",
            "text",
            "`martlet-relay`",
            .restart,
            "`service.name` of the export"
        ),
        SettingDescription(
            "telemetry",
            "sample",
            "0 to 1",
            "1",
            .restart,
            "share of traces that are recorded, of those that begin in the relay"
        ),
    ]
}
