internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension RelayConfiguration {
    /// Reads a configuration from a JSON file.
    ///
    /// ```json
    /// {
    ///   "data": "/var/lib/martlet/relay.sqlite",
    ///   "listen": {"production": "0.0.0.0:2197"},
    ///   "certificate": "relay.pem", "certificate-key": "relay.key",
    ///   "apps": [{
    ///     "name": "orders", "bundle-ids": ["com.example.orders"],
    ///     "team-id": "DEF123GHIJ", "key-id": "ABC123DEFG", "key-file": "AuthKey_ABC123DEFG.p8"
    ///   }],
    ///   "callers": [{"name": "back end", "key-sha256": "…", "apps": ["orders"], "scopes": ["send", "read"]}]
    /// }
    /// ```
    ///
    /// `data` may also be the address of a PostgreSQL database, such as `postgresql://relay@db1,db2/push`; the password
    /// belongs in libpq's own file (`~/.pgpass`) or in `PGPASSWORD`. Relative paths are relative to the directory of
    /// the file. A relative path of a file with a secret, such as `key-file` or `certificate-key`, may also name a
    /// systemd credential.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - overrides: Settings that replace those of the file.
    ///   - credentials: The directory of the unit's systemd credentials (`CREDENTIALS_DIRECTORY`); nil for none.
    /// - Throws: ``RelayError``, which names the setting and its valid values.
    package init(
        file path: String,
        overrides: RelayOverrides = RelayOverrides(),
        credentials: String? = nil
    ) throws(RelayError) {
        let content: [UInt8]
        do throws(FileError) {
            content = try FileContents.read(path)
        } catch {
            throw RelayError("the configuration \(error); it must contain data, apps, and listen or http")
        }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(content)
        } catch {
            throw RelayError("\(path) is not valid JSON: \(error)")
        }
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        do throws(RelayError) {
            let places = FilePlaces(directory: parent, credentials: credentials)
            let root = Setting(overrides.applied(to: json))
            try self.init(root, places)
            telemetry = try TelemetrySettings(root.member("telemetry"), places, variables: overrides.openTelemetry)
        } catch {
            throw RelayError("\(path): \(error)")
        }
    }

    /// Reads all settings except `telemetry` from JSON.
    init(_ root: Setting, _ places: FilePlaces) throws(RelayError) {
        try root.checkMembers()
        try root.demand(["data", "apps"], oneOf: ["listen", "http"])
        let apps = try root.list("apps").map { (app) throws(RelayError) in try App(app, places) }
        guard !apps.isEmpty else { throw RelayError("apps has to name one app at least") }
        self.init(
            data: places.outbox(try root.text("data")),
            apps: apps,
            listeners: try root.member("listen").byEnvironment { (setting) throws(RelayError) in try Address(setting) }
        )
        callers = try root.list("callers").map { (caller) throws(RelayError) in
            try Caller(caller, among: Set(apps.map(\.name)))
        }
        if root.member("http").isThere { http = try Address(root.member("http")) }
        managesOverListeners = try root.flag("manage-over-listen")
        node = try root.optionalText("node") ?? ProcessInfo.processInfo.hostName
        if let durability = try root.choice("durability", SQLiteOutbox.Options.Durability.self) {
            if case .database = data {
                throw RelayError("durability is for a file: what a commit survives in a database is set there")
            }
            outbox.durability = durability
        }
        if let limit = try root.optionalNumber("limit", 1...1_000_000_000) { outbox.limit = limit }
        if let days = try root.optionalNumber("retention-days", 1...3_650) { retention = Int64(days) * 86_400_000 }
        if let seconds = try root.optionalNumber("answer-seconds", 0...60) { answerTime = .seconds(seconds) }
        if let level = try root.choice("log-level", Logger.Level.self) { logLevel = level }
        logFormat = try root.choice("log-format", Logger.Format.self)
        try readIdentity(root, places)
        clientAuthorities = try root.optionalText("client-authorities").map { name throws(RelayError) in
            try places.text(of: name, "client-authorities")
        }
        endpoints = try root.member("apple").byEnvironment { (setting) throws(RelayError) in
            try LaneEndpoint(setting, places)
        }
        try check()
    }

    private mutating func readIdentity(_ root: Setting, _ places: FilePlaces) throws(RelayError) {
        guard let certificate = try root.optionalText("certificate") else {
            guard !root.member("certificate-key").isThere else {
                throw RelayError("certificate is missing: certificate-key is of no use without it")
            }
            return
        }
        identity = TLSContext.Identity(
            certificateChainPEM: try places.text(of: certificate, "certificate"),
            privateKeyPEM: try places.secretText(of: try root.text("certificate-key"), "certificate-key")
        )
    }
}

extension RelayConfiguration.App {
    fileprivate init(_ setting: Setting, _ places: FilePlaces) throws(RelayError) {
        try setting.checkMembers()
        let names = try setting.texts("environments")
        var environments: [PushEnvironment] = []
        for name in names {
            guard let environment = PushEnvironment(rawValue: name) else {
                throw RelayError("\(setting.path("environments")) are production and development, not \(name)")
            }
            environments.append(environment)
        }
        let bundleIDs = try setting.texts("bundle-ids")
        guard !bundleIDs.isEmpty else { throw RelayError("\(setting.path("bundle-ids")) has to name one at least") }
        let keyFile = places.secret(try setting.text("key-file"))
        let (keyID, teamID) = (try setting.text("key-id"), try setting.text("team-id"))
        for (name, value) in [("key-id", keyID), ("team-id", teamID)] where !SigningKey.isIdentifier(value) {
            // A private key that was set here by mistake must not appear in the error.
            let found = value.count > 20 ? "\(value.count) characters" : "\"\(value)\""
            throw RelayError("\(setting.path(name)) must be ten characters of A-Z and 0-9 (found \(found))")
        }
        let key: SigningKey
        do throws(APNsError) {
            key = try SigningKey(file: keyFile, keyID: keyID, teamID: teamID)
        } catch {
            throw RelayError("\(setting.path("key-file")): \(error)")
        }
        self.init(
            name: try setting.text("name"),
            bundleIDs: bundleIDs,
            key: key,
            environments: environments.isEmpty ? [.production] : environments,
            rate: try setting.optionalNumber("rate", 1...1_000_000),
            connections: try setting.optionalNumber("connections", 1...1_000)
        )
        let hook = setting.member("webhook")
        if hook.isThere { webhook = try Webhook(hook, places) }
    }
}

extension RelayConfiguration.Caller {
    fileprivate init(_ setting: Setting, among known: Set<String>) throws(RelayError) {
        try setting.checkMembers()
        try setting.demand([], oneOf: ["key-sha256", "certificate-sha256", "certificate-subject"])
        let certificate = ClientCertificateRule(
            fingerprint: try setting.optionalHash("certificate-sha256"),
            subject: try setting.optionalText("certificate-subject")
        )
        let apps = try setting.texts("apps")
        guard !apps.isEmpty else { throw RelayError("\(setting.path("apps")) has to name one app at least") }
        if let unknown = apps.first(where: { !known.contains($0) }) {
            throw RelayError("\(setting.path("apps")) names \(unknown), which is none of the apps")
        }
        let scopes = try setting.texts("scopes").map { (name) throws(RelayError) in
            guard let scope = Scope(rawValue: name) else {
                let all = Scope.allCases.map(\.rawValue).joined(separator: ", ")
                throw RelayError("\(setting.path("scopes")) are \(all), not \(name)")
            }
            return scope
        }
        guard !scopes.isEmpty else {
            throw RelayError("\(setting.path("scopes")) must name at least one of send, read and manage")
        }
        self.init(
            name: try setting.text("name"),
            hash: try setting.optionalHash("key-sha256"),
            certificate: certificate == ClientCertificateRule() ? nil : certificate,
            expiresAt: try setting.optionalDate("expires"),
            apps: Set(apps),
            scopes: Set(scopes)
        )
    }
}

extension RelayConfiguration.Address {
    /// Creates an address from text such as `127.0.0.1:2197` or `[::1]:2197`.
    fileprivate init(_ setting: Setting) throws(RelayError) {
        let text = try setting.wholeText()
        guard let address = RelayConfiguration.Address(text) else {
            throw RelayError("\(setting.description) \(RelayConfiguration.Address.rule) (found \"\(text)\")")
        }
        self = address
    }
}

extension LaneEndpoint {
    fileprivate init(_ setting: Setting, _ places: FilePlaces) throws(RelayError) {
        try setting.checkMembers()
        let host = try setting.text("host")
        let port = try setting.optionalNumber("port", 1...65_535) ?? 443
        let channelPort = try setting.optionalNumber("channel-port", 1...65_535)
        let endpoint = APNsEndpoint(
            host: host,
            port: UInt16(port),
            isEncrypted: !(try setting.flag("clear")),
            channels: channelPort.map { APNsEndpoint.Address(host: host, port: UInt16($0)) }
        )
        self.init(
            endpoint,
            authorities: try setting.optionalText("authorities").map { name throws(RelayError) in
                try places.text(of: name, setting.path("authorities"))
            }
        )
    }
}
