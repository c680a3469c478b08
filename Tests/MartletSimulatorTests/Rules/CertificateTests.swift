// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Clients that show a certificate instead of a token.
@Suite(.timeLimit(.minutes(10))) struct CertificateTests {
    private let token: DeviceToken

    init() throws {
        token = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
    }

    /// A simulator, and a client that shows it a certificate on a single connection.
    private func bench(
        with certificate: ProviderCertificate,
        _ configuration: SimulatedAPNs.Configuration = .init(),
        sendTimeout: Duration? = nil
    ) async throws -> (SimulatedAPNs, PushClient) {
        let apns = try await SimulatedAPNs.start(configuration)
        var clientConfiguration = apns.clientConfiguration
        clientConfiguration.connectionLimit = 1
        if let sendTimeout { clientConfiguration.sendTimeout = sendTimeout }
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: clientConfiguration
        )
        return (apns, client)
    }

    private func failure(
        _ environment: SimulatedAPNs.Environment,
        environments: [Int] = [1, 2],
        _ notification: PushNotification = .alert("Hi"),
        topic: Topic = "com.example.app"
    ) async throws -> APNsError? {
        let files = try await ProviderCertificateFiles(environments: environments)
        let configuration = SimulatedAPNs.Configuration(environment: environment)
        let (apns, client) = try await bench(with: files.pem, configuration)
        var failure: APNsError?
        do throws(APNsError) {
            try await client.send(notification, to: token, topic: topic)
        } catch {
            failure = error
        }
        await client.close()
        await apns.stop()
        return failure
    }

    @Test func `a certificate sends to its topics in its environments`() async throws {
        #expect(try await failure(.development) == nil)
        #expect(try await failure(.production, environments: [2]) == nil)
        #expect(try await failure(.development, .voip(PushNotification.CustomData(["call": 1]))) == nil)
    }

    @Test func `other topics and environments are refused`() async throws {
        #expect(try await failure(.development, topic: "com.example.other")?.reason == .topicDisallowed)
        #expect(try await failure(.development, .location())?.reason == .topicDisallowed)
        #expect(try await failure(.production, environments: [1])?.reason == .badCertificateEnvironment)
    }

    @Test func `a certificate does not send pushes of type location`() async throws {
        let files = try await ProviderCertificateFiles(suffixes: ["", ".location-query"])
        let (apns, client) = try await bench(with: files.pem)
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.location(), to: token, topic: "com.example.app")
        }
        #expect(error?.reason == .topicDisallowed)
        #expect(await apns.pushes.flatMap(\.findings).map(\.rule) == ["location-with-certificate"])
        await client.close()
        await apns.stop()
    }

    @Test func `200 concurrent pushes with a certificate are accepted`() async throws {
        let files = try await ProviderCertificateFiles()
        let (apns, client) = try await bench(with: files.pkcs12)
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
            }
            try await group.waitForAll()
        }
        #expect(await apns.pushCount == 200)
        await client.close()
        await apns.stop()
    }

    @Test func `a refusal lowers the number of streams, and the next accepted push raises it`() async throws {
        let files = try await ProviderCertificateFiles()
        let (apns, client) = try await bench(with: files.pkcs12, sendTimeout: .seconds(2))
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: token, topic: "com.example.other")
        }
        try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        // One after the other they would take three seconds.
        await apns.setFaults([SimulatedAPNs.Fault(.delay(.milliseconds(300)))])
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
            }
            try await group.waitForAll()
        }
        await client.close()
        await apns.stop()
    }

    @Test func `with token-expired a client with a certificate is not refused`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "token-expired" })
        let configuration = SimulatedAPNs.Configuration(faults: preset.faults)
        let (apns, client) = try await bench(with: ProviderCertificateFiles().pem, configuration)
        try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        #expect(await apns.pushes.map(\.reason) == [nil])
        await client.close()
        await apns.stop()
    }

    @Test func `with one-stream a client with a certificate has one stream, too`() async throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == "one-stream" })
        let configuration = SimulatedAPNs.Configuration(inboxPort: 0, faults: preset.faults)
        let (apns, client) = try await bench(with: ProviderCertificateFiles().pem, configuration)
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
            }
            try await group.waitForAll()
        }
        let port = try #require(await apns.inboxPort)
        let text = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/connections"]).text
        let connection = try #require(try JSONReader.read(Array(text.utf8))["open"]?.elements?.first)
        #expect(connection["streams-most"] == 1 && connection["streams-refused"] == 0, "\(text)")
        await client.close()
        await apns.stop()
    }

    /// Returns the response to curl with a certificate for these topics and these fields.
    private func answer(suffixes: [String], fields: [String]) async throws -> String {
        let files = try await ProviderCertificateFiles(suffixes: suffixes)
        let apns = try await SimulatedAPNs.start()
        let authority = try files.scratch.write(apns.authorityPEM, to: "ca.pem")
        let run = try await ProgramRun.curl(
            [
                "--http2", "--cacert", authority, "--cert", files.scratch.path + "/certificate.pem",
                "--key", files.scratch.path + "/key.pem", "--write-out", "%{http_code}",
                "-H", "apns-push-type: alert", "--data", #"{"aps":{"alert":"Hi"}}"#,
            ] + fields.flatMap { ["-H", $0] } + ["https://localhost:\(await apns.port)/3/device/5d3a"]
        )
        await apns.stop()
        return run.text
    }

    @Test(arguments: [
        ([""], "200"), (["", ".voip"], #"{"reason":"MissingTopic"}400"#),
        (["", ".voip", ".complication"], #"{"reason":"MissingTopic"}400"#),
    ])
    func `only a certificate with one topic has a default`(suffixes: [String], expected: String) async throws {
        #expect(try await answer(suffixes: suffixes, fields: []) == expected)
    }

    @Test func `the default topic of a certificate is the topic of the push`() async throws {
        let files = try await ProviderCertificateFiles(suffixes: [""])
        let apns = try await SimulatedAPNs.start()
        await apns.setOnline(false, token)
        let authority = try files.scratch.write(apns.authorityPEM, to: "ca.pem")
        let port = await apns.port
        _ = try await ProgramRun.curl([
            "--http2", "--cacert", authority, "--cert", files.scratch.path + "/certificate.pem",
            "--key", files.scratch.path + "/key.pem", "-H", "apns-push-type: alert",
            "--data", #"{"aps":{"alert":"Hi"}}"#, "https://localhost:\(port)/3/device/\(token.hex)",
        ])
        let push = try #require(await apns.pushes.first)
        #expect(push.status == 200 && push.headers.topic == "com.example.app")
        #expect(!push.findings.contains { $0.rule == "topic-missing" })
        #expect(await apns.device(token)?.stored == ["com.example.app": 1])
        await apns.stop()
    }

    @Test func `with a certificate the authorization header is ignored`() async throws {
        let fields = ["apns-topic: com.example.app", "authorization: bearer nonsense"]
        #expect(try await answer(suffixes: ["", ".voip"], fields: fields) == "200")
    }

    @Test(arguments: [
        ("com.apple.mgmt.External.1b2c", PushNotification.mdm(pushMagic: "M-1")),
        ("pass.com.example.ticket", PushNotification.walletPass()),
    ])
    func `a certificate without a list has the topic in its subject`(topic: String, push: PushNotification)
        async throws
    {
        let files = try await ProviderCertificateFiles(userID: topic)
        let (apns, client) = try await bench(with: files.pem)
        try await client.send(push, to: token, topic: Topic(topic))
        #expect(await apns.pushes.first?.findings.filter { $0.severity == .error }.map(\.rule) == [])
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        }
        await client.close()
        await apns.stop()
    }

    /// The answer to curl with a certificate of the user ID `com.example.app` whose list of topics is not DER.
    ///
    /// The lists are cut off, of indefinite length, and of a length that nine bytes count.
    @Test(arguments: [
        "30:20:0C:0F:63:6F:6D", "30:80:0C:03:63:6F:6D:00:00", "30:89:00:00:00:00:00:00:00:00:05:0C:03:63:6F:6D",
    ])
    func `a certificate whose list of topics is not DER is refused`(list: String) async throws {
        let extensions = "1.2.840.113635.100.6.3.6 = DER:\(list)"
        let files = try await ProviderCertificateFiles(userID: "com.example.app", extensions: extensions)
        let apns = try await SimulatedAPNs.start()
        let run = try await curl(files, to: apns)
        #expect(run == #"{"reason":"BadCertificate"}403"#)
        #expect(await apns.pushes.first?.findings.map(\.rule) == ["certificate-not-for-pushes"])
        await apns.stop()
    }

    /// Apple's page names both extensions as lists of topics.
    @Test(arguments: [
        "1.2.840.113635.100.6.3.4 = ASN1:UTF8:com.example.app",
        "1.2.840.113635.100.6.3.4 = ASN1:SEQUENCE:list\n[list]\na = UTF8:com.example.app\nb = UTF8:com.example.calls",
        "1.2.840.113635.100.6.3.4 = ASN1:SEQUENCE:list\n1.2.840.113635.100.6.3.6 = ASN1:SEQUENCE:other\n"
            + "[list]\na = UTF8:com.example.app\n[other]\na = UTF8:com.example.other",
    ])
    func `topics in the extension for VoIP are accepted`(extensions: String) async throws {
        let environment = "1.2.840.113635.100.6.3.1 = ASN1:NULL\n"
        let files = try await ProviderCertificateFiles(userID: "", extensions: environment + extensions)
        let apns = try await SimulatedAPNs.start()
        #expect(try await curl(files, to: apns) == "200")
        await apns.stop()
    }

    private func curl(_ files: ProviderCertificateFiles, to apns: SimulatedAPNs) async throws -> String {
        let authority = try files.scratch.write(apns.authorityPEM, to: "ca.pem")
        let port = await apns.port
        return try await ProgramRun.curl([
            "--http2", "--cacert", authority, "--cert", files.scratch.path + "/certificate.pem",
            "--key", files.scratch.path + "/key.pem", "--write-out", "%{http_code}", "-H", "apns-push-type: alert",
            "-H", "apns-topic: com.example.app", "--data", #"{"aps":{"alert":"Hi"}}"#,
            "https://localhost:\(port)/3/device/5d3a",
        ]).text
    }

    @Test func `a push to a managed device with a provider token has a finding`() async throws {
        let apns = try await SimulatedAPNs.start()
        let client = try await PushClient(
            apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        try await client.send(.mdm(pushMagic: "M-1"), to: token, topic: "com.apple.mgmt.External.1b2c")
        #expect(await apns.pushes.first?.findings.map(\.rule).contains("mdm-without-certificate") == true)
        await client.close()
        await apns.stop()
    }
}

extension ProviderCertificateFiles {
    /// The certificate with its key, from the PEM files.
    fileprivate var pem: ProviderCertificate {
        get throws {
            try ProviderCertificate(
                pem: scratch.read("certificate.pem"),
                privateKeyPEM: scratch.read("key.pem")
            )
        }
    }

    /// The certificate with its key, from the PKCS#12 file.
    fileprivate var pkcs12: ProviderCertificate {
        get throws {
            try ProviderCertificate(pkcs12File: scratch.path + "/certificate.p12", passphrase: "secret")
        }
    }
}
