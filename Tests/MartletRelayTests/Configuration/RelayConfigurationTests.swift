// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletOutbox
@testable import MartletRelay

/// Reading of configuration files, and the errors about invalid ones.
@Suite struct RelayConfigurationTests {
    private func error(_ text: String) throws -> String {
        let file = try ConfigurationFile(text)
        let error = #expect(throws: RelayError.self, "\(text)") { try RelayConfiguration(file: file.path) }
        return error?.description.replacing(file.directory.path + "/", with: "") ?? ""
    }

    @Test func `a valid configuration is read`() throws {
        let file = try ConfigurationFile()
        let configuration = try RelayConfiguration(file: file.path)
        #expect(configuration.data == .file(file.directory.path + "/relay.sqlite"))
        #expect(configuration.apps.map(\.name) == ["orders"] && configuration.apps[0].rate == 100)
        #expect(configuration.apps[0].connections == 12)
        #expect(configuration.callers[0].scopes == [.send, .read] && configuration.logLevel == .info)
        #expect(configuration.remarks.isEmpty)
        let warnings = configuration.warnings
        #expect(warnings.count == 2 && warnings[0].hasPrefix("listen has no certificate: most APNs clients speak TLS"))
        #expect(warnings[1].hasPrefix("no webhook for orders: read unregistered tokens at "))
    }

    @Test(arguments: [
        ("[]", "the configuration must be an object (found an array)"), ("{", "is not valid JSON"),
        ("{}", "data, apps, listen or http are missing"),
        (#"{"data":"a","http":":1"}"#, "apps is missing"),
        (#"{"data":"a","http":":1","apps":[]}"#, "apps must contain at least one app"),
        (ConfigurationFile.good(("\"data\"", "\"date\"")), "date is unknown; did you mean data?"),
        (
            ConfigurationFile.good(("relay.sqlite", "")),
            "data must be a string that is not empty (found an empty string)"
        ),
        (ConfigurationFile.good(("127.0.0.1:0", "127.0.0.1")), "listen.production must be an IP address with a port"),
        (
            ConfigurationFile.good(("127.0.0.1:0", "nowhere:1")),
            "listen.production must be an IP address with a port, such as 127.0.0.1:2197"
        ),
        (ConfigurationFile.good(("\"production\"", "\"sandbox\"")), "listen.sandbox is unknown"),
        (
            ConfigurationFile.good(("{\"production\": \"127.0.0.1:0\"}", "{}"), ("\"http\": \"127.0.0.1:0\",", "")),
            "listen or http must have an address"
        ),
        (
            ConfigurationFile.good(("orders\", \"b", "or/ders\", \"b"), ("[\"orders", "[\"or/ders")),
            "name must consist of letters"
        ),
        (ConfigurationFile.good(("\"key-file\": \"AuthKey.p8\", ", "")), "apps[0].key-file is missing"),
        (ConfigurationFile.good(("AuthKey.p8", "Other.p8")), "Other.p8 cannot be read: no such file or directory"),
        (
            ConfigurationFile.good(("AuthKey.p8", "mrt_abcdefghijklmnopqrstuvwxyz234567")),
            "apps[0].key-file must be the path of a file (found text of 36 characters (not shown"
        ),
        (
            ConfigurationFile.good(("AuthKey.p8", "-----BEGIN PRIVATE KEY-----\\nAA==")),
            "apps[0].key-file: text of 32 characters (not shown, as it may be a secret): the signing key cannot be used"
        ),
        (
            ConfigurationFile.good(("ABC123DEFG", "abc")),
            "apps[0].key-id must be ten characters of A-Z and 0-9 (found \"abc\")"
        ),
        (
            ConfigurationFile.good(("DEF123GHIJ", "x y")),
            "apps[0].team-id must be ten characters of A-Z and 0-9 (found \"x y\")"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", "\"rate\": 0")),
            "apps[0].rate must be an integer from 1 to 1000000 (found 0)"
        ),
        (
            ConfigurationFile.good(("\"connections\": 12", "\"connections\": 0")),
            "apps[0].connections must be an integer from 1 to 1000 (found 0)"
        ),
        (ConfigurationFile.good(("[\"com.example.orders\"]", "[]")), "apps[0].bundle-ids must name at least one"),
        (
            ConfigurationFile.good(("com.example.orders", "com.a.dev, com.a.dev.voip")),
            "apps[0].bundle-ids[0] must be one bundle identifier, such as com.example.orders (found \"com.a.dev, com"
        ),
        (
            ConfigurationFile.good(("com.example.orders", "mrt_short")),
            "apps[0].bundle-ids[0] must be one bundle identifier, such as com.example.orders (found text of 9"
        ),
        (
            ConfigurationFile.good(
                ("\"callers\"", "\"apple\": {\"production\": {\"host\": \"127.0.0.1:2197\"}}, \"callers\"")
            ),
            "apple.production.host must be a host name or an IP address without a port (found \"127.0.0.1:2197\")"
        ),
        (
            ConfigurationFile.good(("0a0a", "0a")),
            "callers[0].key-sha256 must be the 64 hexadecimal digits of a SHA-256"
        ),
        (
            ConfigurationFile.good(("[\"orders\"]", "[\"rides\"]")),
            "callers[0].apps[0] must be the name of an app (found \"rides\")"
        ),
        (ConfigurationFile.good(("[\"orders\"]", "[]")), "callers[0].apps must name at least one"),
        (
            ConfigurationFile.good((", \"scopes\": [\"send\", \"read\"]", "")),
            "callers[0].scopes is missing"
        ),
        (
            ConfigurationFile.good(("[\"send\", \"read\"]", "[]")),
            "callers[0].scopes must name at least one of send, read, manage, installations"
        ),
        (
            ConfigurationFile.good(("\"http\"", "\"manage-over-listen\": 1, \"http\"")),
            "manage-over-listen must be true or false (found 1)"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", "\"rates\": 100")),
            "apps[0].rates is unknown; did you mean rate?"
        ),
        (
            ConfigurationFile.good(("\"callers\"", "\"apple\": {\"production\": {\"hosts\": 1}}, \"callers\"")),
            "apple.production.hosts is unknown; did you mean host?"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", "\"webhook\": {\"uri\": 1}")),
            "apps[0].webhook.uri is unknown"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", "\"alerts-per-day\": 0")),
            "apps[0].alerts-per-day must be an integer from 1 to 100 (found 0)"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", "\"quiet-hours\": {\"from\": \"22:00\"}")),
            "apps[0].quiet-hours.to is missing"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", #""quiet-hours": {"from": "22:00", "to": "24:00"}"#)),
            "apps[0].quiet-hours.to must be a time of day from 00:00 to 23:59 (found \"24:00\")"
        ),
        (
            ConfigurationFile.good(("\"rate\": 100", #""quiet-hours": {"from": "22:00", "to": "22:00"}"#)),
            "apps[0].quiet-hours.to must be another time of day than from (found \"22:00\")"
        ),
        (
            ConfigurationFile.good(
                ("\"rate\": 100", #""quiet-hours": {"from": "22:00", "to": "07:00", "time-zone": "Mars/Base"}"#)
            ),
            "such as Europe/Berlin (found \"Mars/Base\")"
        ),
        (
            ConfigurationFile.good(("\"send\"", "\"sent\"")),
            "callers[0].scopes[0] must be one of send, read, manage, installations (found \"sent\")"
        ),
        (
            ConfigurationFile.good(("\"data\"", "\"certificate\": \"c.pem\", \"data\"")),
            "certificate: the file c.pem cannot be read"
        ),
        (ConfigurationFile.good(("\"data\"", "\"certificate-key\": \"c\", \"data\"")), "certificate is missing"),
        (
            ConfigurationFile.good(
                ("\"data\"", "\"certificate\": \"relay.json\", \"certificate-key\": \"relay.json\", \"data\"")
            ),
            "certificate and certificate-key: "
        ),
        (
            ConfigurationFile.good(("\"data\"", "\"sealing-keys\": \"relay.json\", \"data\"")),
            "sealing-keys must be a file of keys: line 1 must be a number and 32 random bytes in base64"
        ),
        (
            ConfigurationFile.good(("\"data\"", "\"log-level\": \"loud\", \"data\"")),
            "log-level must be one of debug, info, "
        ),
        (
            ConfigurationFile.good(("\"data\"", "\"durability\": \"no\", \"data\"")),
            "durability must be one of full, relaxed"
        ),
        (
            ConfigurationFile.good(("\"callers\"", "\"apple\": {\"production\": {\"port\": 1}}, \"callers\"")),
            "apple.production.host is missing"
        ),
    ])
    func `a mistake names the setting and the rule`(text: String, message: String) throws {
        let error = try error(text)
        #expect(error.contains(message), "\(error)")
        #expect(error.hasPrefix("relay.json") && !error.contains("\n"))
    }

    @Test func `two entries with the same name are refused`() throws {
        let file = try ConfigurationFile()
        var configuration = try RelayConfiguration(file: file.path)
        configuration.callers.append(configuration.callers[0])
        #expect(throws: RelayError("callers has two entries with the name back end")) { try configuration.check() }
        configuration.apps.append(configuration.apps[0])
        #expect(throws: RelayError("apps has two entries with the name orders")) { try configuration.check() }
    }

    @Test(arguments: ["mrt_abcdefghijklmnopqrstuvwxyz234567", "-----BEGIN PRIVATE KEY-----", "key=hunter2"])
    func `a name that may be a secret is refused and not shown`(name: String) throws {
        let file = try ConfigurationFile()
        let good = try RelayConfiguration(file: file.path)
        var (apps, callers) = (good, good)
        apps.apps[0].name = name
        callers.callers[0].name = name
        for (configuration, setting) in [(apps, "apps[0].name"), (callers, "callers[0].name")] {
            let error = #expect(throws: RelayError.self) { try configuration.check() }
            #expect(error?.description.hasPrefix(setting + " must have no key") == true, "\(String(describing: error))")
            #expect(error?.description.contains(name) == false)
        }
    }

    @Test func `the path of a URL that may be a secret is not shown`() {
        let secret = String(repeating: "0a1b", count: 8)
        #expect(WebAddress("https://hooks.example/in/\(secret)")?.description == "https://hooks.example:443/…")
        #expect(WebAddress("https://hooks.example/in?key=hunter2")?.description == "https://hooks.example:443/in")
    }

    @Test func `two callers cannot have one key`() throws {
        let file = try ConfigurationFile()
        var configuration = try RelayConfiguration(file: file.path)
        var other = configuration.callers[0]
        other.name = "front end"
        other.hash = other.hash?.uppercased()
        configuration.callers.append(other)
        let error = #expect(throws: RelayError.self) { try configuration.check() }
        #expect(error?.description.hasPrefix("the callers back end and front end have the same key-sha256") == true)
    }

    @Test func `settings that are probably mistakes have warnings`() throws {
        let file = try ConfigurationFile()
        var configuration = try RelayConfiguration(file: file.path)
        var other = configuration.apps[0]
        other.name = "rides"
        other.bundleIDs = ["com.example.rides"]
        configuration.apps.append(other)
        configuration.listeners = [.production: RelayConfiguration.Address(host: "0.0.0.0", port: 2197)]
        let remarks = configuration.remarks
        #expect(remarks.count == 2 && remarks[0].hasPrefix("listen is open to other machines without a certificate"))
        #expect(remarks.last?.hasPrefix("the apps orders, rides share the signing key ABC123DEFG") == true)
    }

    @Test func `options replace settings of the file`() throws {
        let file = try ConfigurationFile()
        var overrides = RelayOverrides()
        func set(_ name: String, _ text: String) throws {
            overrides.set(try #require(SettingOption.all.first { $0.name == name }), to: text)
        }
        try set("data", "/elsewhere/relay.sqlite")
        try set("listen-development", "[::1]:2195")
        try set("http", "0.0.0.0:8198")
        try set("log-level", "debug")
        try set("log-format", "logfmt")
        let configuration = try RelayConfiguration(file: file.path, overrides: overrides)
        #expect(configuration.data == .file("/elsewhere/relay.sqlite"))
        #expect(
            configuration.listeners.mapValues(\.description) == [
                .production: "127.0.0.1:0", .development: "[::1]:2195",
            ]
        )
        #expect(configuration.http?.description == "0.0.0.0:8198")
        #expect(configuration.logLevel == .debug && configuration.logFormat == .logfmt)
        #expect(configuration.remarks.count == 2, "\(configuration.remarks)")
        try set("http", "localhost:8198")
        let local = try RelayConfiguration(file: file.path, overrides: overrides)
        #expect(local.http?.description == "localhost:8198" && local.remarks.count == 1, "\(local.remarks)")
        try set("http", "nowhere")
        let error = #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path, overrides: overrides) }
        #expect(error?.description.contains("http must be an IP address with a port") == true)
    }

    @Test func `the file of a key may be in the credentials directory`() throws {
        let file = try ConfigurationFile(ConfigurationFile.good(("AuthKey.p8", "apns-key")))
        let credentials = try ScratchDirectory()
        #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path, credentials: credentials.path) }
        try credentials.write(try file.directory.read("AuthKey.p8"), to: "apns-key")
        let configuration = try RelayConfiguration(file: file.path, credentials: credentials.path)
        #expect(configuration.apps[0].key.keyID == "ABC123DEFG")
    }

    @Test(arguments: [["pkcs8", "-topk8"], ["ec", "-aes256"]])
    func `an encrypted key in the settings is refused with what to do`(encryption: [String]) async throws {
        let identity = ("\"data\"", "\"certificate\": \"relay.pem\", \"certificate-key\": \"relay.key\", \"data\"")
        let file = try ConfigurationFile(ConfigurationFile.good(identity))
        let authority = try CertificateAuthority()
        try file.directory.write(authority.certificatePEM(), to: "relay.pem")
        try file.directory.write(authority.keyPEM(), to: "relay.key")
        _ = try RelayConfiguration(file: file.path)
        for (name, message) in [
            ("relay.key", "certificate and certificate-key: the private key is encrypted"),
            ("AuthKey.p8", "AuthKey.p8: the signing key cannot be used: the private key is encrypted"),
        ] {
            let path = file.directory.path + "/" + name
            let plain = try file.directory.read(name)
            let run = try await ProgramRun("openssl", encryption + ["-in", path, "-passout", "pass:hunter2"])
            #expect(run.status == 0, "\(run.errorOutput)")
            try file.directory.write(run.text, to: name)
            let error = try #require(throws: RelayError.self) { try RelayConfiguration(file: file.path) }
            #expect(error.description.contains(message), "\(error)")
            #expect(error.description.contains("openssl pkey -in FILE decrypts other keys"), "\(error)")
            #expect(!error.description.contains(run.text.split(separator: "\n")[3]), "\(error)")
            try file.directory.write(plain, to: name)
        }
    }

    @Test func `sealing keys are read from a file of the relay's user`() throws {
        let file = try ConfigurationFile(ConfigurationFile.good(("\"data\"", "\"sealing-keys\": \"keys\", \"data\"")))
        let path = try file.directory.write("7 \(String(repeating: "A", count: 43))=\n", to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let error = try #require(throws: RelayError.self) { try RelayConfiguration(file: file.path) }
        #expect("\(error)".contains("sealing-keys must be a file that other users cannot read"), "\(error)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try RelayConfiguration(file: file.path).sealingKeys?.description == "SealingKeys(7)")
    }

    @Test func `a new key is random, and its hash identifies it`() throws {
        let keys = (0..<50).map { _ in CallerKey() }
        #expect(Set(keys.map(\.text)).count == keys.count)
        for key in keys {
            #expect(key.text.wholeMatch(of: /mrt_[a-z2-7]{32}/) != nil)
            #expect(try key.hash == RelayBench.hash(key.text))
        }
    }
}
