// SPDX-License-Identifier: Apache-2.0

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
    /// systemd credential. PEM text in place of the path of a key or certificate is its content.
    ///
    /// A pipe and standard input have no directory: in them, relative paths are relative to the working directory.
    ///
    /// - Parameters:
    ///   - path: The path of the file; `-` for standard input, whose content is known.
    ///   - known: The content, if the file has been read; nil, the default, to read it.
    ///   - overrides: Settings that replace those of the file.
    ///   - credentials: The directory of the unit's systemd credentials (`CREDENTIALS_DIRECTORY`); nil for none.
    /// - Throws: ``RelayError``, which names the setting and its valid values.
    package init(
        file path: String,
        content known: [UInt8]? = nil,
        overrides: RelayOverrides = RelayOverrides(),
        credentials: String? = nil
    ) throws(RelayError) {
        let content: [UInt8]
        do throws(FileError) {
            content = if let known { known } else { try FileContents.read(path) }
        } catch {
            throw RelayError("the configuration \(error); it must contain data, apps, and listen or http")
        }
        let name = path == "-" ? "standard input" : ShownValue(path).description
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(content)
        } catch {
            throw RelayError("\(name) \(error.rule): \(error)")
        }
        let hasDirectory = !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/")
        let parent = hasDirectory ? path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" : ""
        do throws(RelayError) {
            try self.init(
                overrides.applied(to: json),
                ConfigurationDirectories(directory: parent, credentials: credentials),
                variables: overrides.openTelemetry,
                proxies: overrides.proxies
            )
        } catch {
            throw RelayError("\(name): \(error)")
        }
    }

    /// Reads a configuration from the content of the file, with overrides applied; the error names the setting.
    ///
    /// The variables are those of OpenTelemetry's specification, which replace settings of `telemetry`.
    init(
        _ json: JSONValue,
        _ places: ConfigurationDirectories,
        variables: [String: String] = [:],
        proxies: HTTPProxies = HTTPProxies()
    ) throws(RelayError) {
        let root = ConfigurationField(json, named: "the configuration")
        try root.check(RelayConfiguration.settings.map(\.declaration), oneOf: RelayConfiguration.addresses)
        self.init(data: .file(""), apps: try RelayConfiguration.apps.value(in: root, places), listeners: [:])
        node = HostName.current
        self.proxies = proxies
        try RelayConfiguration.settings.read(root, places, into: &self)
        try readIdentity(root, places)
        try checkReferences(root)
        telemetry = try TelemetrySettings(root["telemetry"], places, variables: variables)
        try check()
    }

    private mutating func readIdentity(_ root: ConfigurationField, _ places: ConfigurationDirectories)
        throws(RelayError)
    {
        guard let certificate = try RelayConfiguration.certificate.valueIfPresent(in: root, places) else {
            guard !root["certificate-key"].isPresent else {
                throw RelayError("certificate is missing: certificate-key has no effect without it")
            }
            return
        }
        identity = TLSContext.Identity(
            certificateChainPEM: certificate,
            privateKeyPEM: try RelayConfiguration.certificateKey.value(in: root, places)
        )
    }

    /// Checks the settings that depend on other settings of the file.
    private func checkReferences(_ root: ConfigurationField) throws(RelayError) {
        guard !apps.isEmpty else { throw root["apps"].error("must contain at least one app") }
        if case .database = data, root["durability"].isPresent {
            throw RelayError("durability is only for a file: the durability of a database is configured in PostgreSQL")
        }
        let known = Set(apps.map(\.name))
        guard let field = root["callers"].ifPresent else { return }
        for caller in try field.elements() {
            for app in try caller["apps"].elements() {
                guard let name = app.value?.stringValue, !known.contains(name) else { continue }
                throw app.error("must be the name of an app (found \(JSONValue.string(name).excerpt))")
            }
        }
    }
}
