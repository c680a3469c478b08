import Foundation
import Martlet
import MartletTransport
import TestSupport
import Testing

/// Martlet's client against servers that others wrote.
@Suite(.timeLimit(.minutes(2))) struct ServerTests {
    /// A certificate for a server, in files, and the authority to trust.
    private struct Identity {
        let scratch: ScratchDirectory
        let certificate: String
        let key: String
        let authority: String

        init() throws {
            scratch = try ScratchDirectory()
            let authority = try CertificateAuthority()
            let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
            certificate = try scratch.write(issued.certificatePEM, to: "certificate.pem")
            key = try scratch.write(issued.keyPEM, to: "key.pem")
            self.authority = try authority.certificatePEM()
        }
    }

    private static let pushes = 1_000

    private let token: DeviceToken
    private let topic: Topic = "com.example.app"

    init() throws {
        token = try DeviceToken(hex: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    }

    /// Sends many pushes at once; how many ended how.
    private func send(to endpoint: APNsEndpoint, trusting authority: String?) async throws -> [String: Int] {
        let client = try PushClient(
            endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: authority)
        )
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<Self.pushes {
                group.addTask {
                    do throws(APNsError) {
                        try await client.send(.alert("push \(number)"), to: token, topic: topic)
                        return "200"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        await client.close()
        return outcomes
    }

    /// Starts nginx with TLS, and these lines in its configuration.
    private func startNginx(_ identity: Identity, isHTTP2: Bool = true, _ lines: String) async throws -> PeerServer {
        try await PeerServer.start("nginx", in: identity.scratch) { port in
            let configuration = """
                daemon off;
                master_process off;
                pid \(identity.scratch.path)/nginx.pid;
                error_log \(identity.scratch.path)/error.log;
                events { worker_connections 64; }
                http {
                    access_log off;
                    client_body_temp_path \(identity.scratch.path)/body;
                    server {
                        listen 127.0.0.1:\(port) ssl \(isHTTP2 ? "http2" : "");
                        ssl_certificate \(identity.certificate);
                        ssl_certificate_key \(identity.key);
                        \(lines)
                    }
                }
                """
            let file = try identity.scratch.write(configuration, to: "nginx.conf")
            return ["-e", "\(identity.scratch.path)/error.log", "-p", identity.scratch.path, "-c", file]
        }
    }

    private func sendToNginx(requestsPerConnection: Int) async throws -> [String: Int] {
        let identity = try Identity()
        let lines = "keepalive_requests \(requestsPerConnection); location / { return 200; }"
        let server = try await startNginx(identity, lines)
        return try await send(to: APNsEndpoint(host: "localhost", port: server.port), trusting: identity.authority)
    }

    @Test func `nghttpd takes a thousand pushes over TLS`() async throws {
        let identity = try Identity()
        let server = try await PeerServer.start("nghttpd", in: identity.scratch) { port in
            ["--address=127.0.0.1", "--echo-upload", "\(port)", identity.key, identity.certificate]
        }
        let outcomes = try await send(
            to: APNsEndpoint(host: "localhost", port: server.port),
            trusting: identity.authority
        )
        #expect(outcomes == ["200": Self.pushes])
    }

    @Test func `nghttpd takes a thousand pushes in the clear`() async throws {
        let server = try await PeerServer.start("nghttpd", in: ScratchDirectory()) { port in
            ["--address=127.0.0.1", "--echo-upload", "--no-tls", "\(port)"]
        }
        let outcomes = try await send(
            to: APNsEndpoint(host: "127.0.0.1", port: server.port, isEncrypted: false),
            trusting: nil
        )
        #expect(outcomes == ["200": Self.pushes])
    }

    @Test func `nginx takes a thousand pushes`() async throws {
        let outcomes = try await sendToNginx(requestsPerConnection: 100_000)
        #expect(outcomes == ["200": Self.pushes])
    }

    /// nginx ends a connection after a number of requests, with a GOAWAY while others are on their way: what it left
    /// alone goes out on another connection.
    @Test func `nginx ends connections under way`() async throws {
        let outcomes = try await sendToNginx(requestsPerConnection: 70)
        #expect(outcomes == ["200": Self.pushes])
    }

    /// How many pushes the long stories take; more than the default shows nothing new, but takes longer.
    private static let manyPushes = ProcessInfo.processInfo.environment["MARTLET_PUSHES"].flatMap { Int($0) } ?? 20_000

    /// Sends many pushes; what failed, and how many connections it took.
    private func sendMany(
        to port: UInt16,
        trusting authority: String,
        retry: RetryPolicy
    ) async throws -> (failures: [BulkReport.Failure], connections: Int) {
        let client = try PushClient(
            APNsEndpoint(host: "localhost", port: port),
            authentication: .token(.ephemeral()),
            configuration: .init(
                additionalAuthorities: authority,
                sendTimeout: .seconds(110),
                retry: retry,
                connectionLimit: 1
            )
        )
        let tokens = repeatElement(token, count: Self.manyPushes)
        let report = await client.send(.alert("Hello"), to: tokens, topic: topic, inFlight: 500).report()
        #expect(report.count == Self.manyPushes)
        let connections = await client.counters.connectionsOpened
        await client.close()
        return (report.failures, connections)
    }

    @Test func `connections that end every thousand pushes cost none of them`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "keepalive_requests 1000; location / { return 200; }")
        let outcome = try await sendMany(to: server.port, trusting: identity.authority, retry: .none)
        #expect(outcome.failures.isEmpty, "\(outcome.failures.prefix(3))")
        #expect(outcome.connections <= Self.manyPushes / 1_000 + 1)
    }

    @Test func `connections that are cut at random cost no push whose caller takes it twice`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "keepalive_requests 1000000; location / { return 200; }")
        let proxy = try CuttingProxy(to: server.port, longest: Self.manyPushes * 30)
        let retry = RetryPolicy(
            retries: 100,
            urgentRetries: 100,
            maximumDelay: .milliseconds(200),
            unknownOutcome: .resend
        )
        let outcome = try await sendMany(to: proxy.port, trusting: identity.authority, retry: retry)
        #expect(outcome.failures.isEmpty, "\(outcome.failures.prefix(3))")
        #expect(proxy.cuts > 3)
        #expect(outcome.connections <= proxy.cuts + 1)
        proxy.stop()
    }

    /// Starts tinyproxy, which lets in one user and lets out to any port.
    private func startProxy() async throws -> PeerServer {
        let scratch = try ScratchDirectory()
        return try await PeerServer.start("tinyproxy", in: scratch) { port in
            let configuration = """
                Port \(port)
                Listen 127.0.0.1
                Timeout 30
                MaxClients 20
                BasicAuth martlet secret
                """
            return ["-d", "-c", try scratch.write(configuration, to: "tinyproxy.conf")]
        }
    }

    @Test func `pushes go through a proxy that asks for a password, and none without it`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "location / { return 200; }")
        let proxy = try await startProxy()
        for (password, code) in [("secret", nil), ("guess", APNsError.Code.connectionFailed)] {
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: server.port),
                authentication: .token(.ephemeral()),
                configuration: .init(
                    additionalAuthorities: identity.authority,
                    proxy: .init(host: "127.0.0.1", port: proxy.port, user: "martlet", password: password),
                    retry: .none
                )
            )
            do throws(APNsError) {
                for _ in 0..<50 { try await client.send(.alert("Hello"), to: token, topic: topic) }
                #expect(code == nil)
            } catch {
                #expect(error.code == code, "\(error)")
                #expect(error.description.contains("401") || error.description.contains("407"), "\(error)")
                #expect(!error.description.contains(password))
            }
            await client.close()
        }
    }

    @Test func `a server without TLS 1.3 is left when that is asked for`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "ssl_protocols TLSv1.2; location / { return 200; }")
        for version in [PushClient.TLSVersion.tls12, .tls13] {
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: server.port),
                authentication: .token(.ephemeral()),
                configuration: .init(
                    additionalAuthorities: identity.authority,
                    minimumTLSVersion: version,
                    retry: .none
                )
            )
            do throws(APNsError) {
                try await client.send(.alert("Hello"), to: token, topic: topic)
                #expect(version == .tls12)
            } catch {
                #expect(version == .tls13 && error.code == .connectionFailed, "\(error)")
            }
            await client.close()
        }
    }

    @Test func `a server that speaks no HTTP/2 is named as such`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, isHTTP2: false, "location / { return 200; }")
        let error = await failure(at: server, .token(try .ephemeral()), trusting: identity.authority)
        #expect(error?.code == .notHTTP2)
        #expect(error?.outcome == .neverSent)
    }

    @Test func `a server that is not trusted gets no push`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "location / { return 200; }")
        let error = await failure(at: server, .token(try .ephemeral()), trusting: nil)
        #expect(error?.code == .certificateRejected)
        #expect(error?.outcome == .neverSent)
    }

    @Test func `a client certificate opens the door that is closed without one`() async throws {
        let identity = try Identity()
        let provider = try ScratchDirectory()
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=com.example.app"
        let run = try await ProgramRun(
            "openssl",
            request.split(separator: " ").map(String.init)
                + ["-keyout", provider.path + "/key.pem", "-out", provider.path + "/certificate.pem"]
        )
        #expect(run.status == 0, "\(run.complaint)")
        let server = try await startNginx(
            identity,
            """
            ssl_verify_client optional;
            ssl_client_certificate \(provider.path)/certificate.pem;
            location / {
                if ($ssl_client_verify != SUCCESS) { return 403 '{"reason":"BadCertificate"}'; }
                if ($http_authorization) { return 400; }
                return 200;
            }
            """
        )
        let shown = Authentication.certificate(
            try ProviderCertificate(
                pem: provider.read("certificate.pem"),
                privateKeyPEM: provider.read("key.pem")
            )
        )
        #expect(await failure(at: server, shown, trusting: identity.authority) == nil)
        let without = await failure(at: server, .token(try .ephemeral()), trusting: identity.authority)
        #expect(without?.reason == .badCertificate)
    }

    @Test func `a server that rejects the client's certificate is heard`() async throws {
        let identity = try Identity()
        let server = try await PeerServer.start("openssl", in: identity.scratch) { port in
            let options = ["-alpn", "h2", "-Verify", "1", "-verify_return_error", "-quiet"]
            return ["s_server", "-accept", "\(port)", "-cert", identity.certificate, "-key", identity.key] + options
        }
        let stranger = try CertificateAuthority().issueServerCertificate(dnsNames: ["stranger"], ipAddresses: [])
        let shown = Authentication.certificate(
            try ProviderCertificate(pem: stranger.certificatePEM, privateKeyPEM: stranger.keyPEM)
        )
        let error = await failure(at: server, shown, trusting: identity.authority)
        #expect(error?.code == .certificateRejected, "\(String(describing: error))")
    }

    /// Why one push to the server failed, if it did.
    private func failure(
        at server: PeerServer,
        _ authentication: Authentication,
        trusting authority: String?
    ) async -> APNsError? {
        do throws(APNsError) {
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: server.port),
                authentication: authentication,
                configuration: .init(additionalAuthorities: authority)
            )
            try await client.send(.alert("Hello"), to: token, topic: topic)
            return nil
        } catch {
            return error
        }
    }
}
