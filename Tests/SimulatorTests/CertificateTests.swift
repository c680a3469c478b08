import APNsClient
import Simulator
import TestSupport
import Testing

/// Clients that show a certificate instead of a token.
@Suite(.timeLimit(.minutes(1))) struct CertificateTests {
    private let token: DeviceToken

    init() throws {
        token = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
    }

    private func failure(
        _ environment: SimulatedAPNs.Environment,
        environments: [Int] = [1, 2],
        _ notification: PushNotification = .alert("Hi"),
        topic: Topic = "com.example.app"
    ) async throws -> APNsError? {
        let files = try await ProviderCertificateFiles(environments: environments)
        let certificate = try ProviderCertificate(
            pem: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(environment: environment))
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: apns.clientConfiguration
        )
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
        #expect(try await failure(.development, .voip(CustomData(["call": 1]))) == nil)
    }

    @Test func `other topics and environments are refused`() async throws {
        #expect(try await failure(.development, topic: "com.example.other")?.reason == .topicDisallowed)
        #expect(try await failure(.development, .location())?.reason == .topicDisallowed)
        #expect(try await failure(.production, environments: [1])?.reason == .badCertificateEnvironment)
    }

    @Test func `a certificate does not send pushes of type location`() async throws {
        let files = try await ProviderCertificateFiles(suffixes: ["", ".location-query"])
        let certificate = try ProviderCertificate(
            pem: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        let apns = try await SimulatedAPNs.start()
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: apns.clientConfiguration
        )
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.location(), to: token, topic: "com.example.app")
        }
        #expect(error?.reason == .topicDisallowed)
        #expect(await apns.pushes.flatMap(\.findings).map(\.rule) == ["location-with-certificate"])
        await client.close()
        await apns.stop()
    }

    @Test func `many go out at once, without waiting for a first answer`() async throws {
        let files = try await ProviderCertificateFiles()
        let certificate = try ProviderCertificate(
            pkcs12File: files.scratch.path + "/certificate.p12",
            passphrase: "secret"
        )
        let apns = try await SimulatedAPNs.start()
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: apns.clientConfiguration
        )
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

    @Test func `a refusal takes the streams away, and the next accepted push gives them back`() async throws {
        let files = try await ProviderCertificateFiles()
        let certificate = try ProviderCertificate(
            pkcs12File: files.scratch.path + "/certificate.p12",
            passphrase: "secret"
        )
        let apns = try await SimulatedAPNs.start()
        var configuration = apns.clientConfiguration
        configuration.sendTimeout = .seconds(2)
        configuration.connectionLimit = 1
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: configuration
        )
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: token, topic: "com.example.other")
        }
        try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        // One after the other they would take three seconds.
        await apns.setFaults([Fault(.delay(.milliseconds(300)))])
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
            }
            try await group.waitForAll()
        }
        await client.close()
        await apns.stop()
    }

    /// What curl is answered that shows a certificate with these topics, and sends these fields.
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
        let certificate = try ProviderCertificate(
            pem: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        let apns = try await SimulatedAPNs.start()
        let client = try await PushClient(
            apns.endpoint,
            authentication: .certificate(certificate),
            configuration: apns.clientConfiguration
        )
        try await client.send(push, to: token, topic: Topic(topic))
        #expect(await apns.pushes.first?.findings.filter { $0.severity == .error }.map(\.rule) == [])
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        }
        await client.close()
        await apns.stop()
    }

    /// The answer to curl with a certificate of the user ID `com.example.app` whose list of topics is not DER.
    @Test func `a certificate whose list of topics is not DER is refused`() async throws {
        let files = try await ProviderCertificateFiles(userID: "com.example.app", extensions: listThatIsNotDER)
        let apns = try await SimulatedAPNs.start()
        let run = try await curl(files, to: apns)
        #expect(run == #"{"reason":"BadCertificate"}403"#)
        #expect(await apns.pushes.first?.findings.map(\.rule) == ["certificate-not-for-pushes"])
        await apns.stop()
    }

    /// A list of topics that is cut off.
    private let listThatIsNotDER = "1.2.840.113635.100.6.3.6 = DER:30:20:0C:0F:63:6F:6D"

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
