// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletTransport
import TestSupport
import Testing

/// Tests of Martlet's client against third-party servers.
@Suite(.timeLimit(.minutes(10))) struct ServerTests {
    /// The files of a server's certificate and its authority.
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

    /// Sends many pushes concurrently, and returns their number by result.
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

    /// Starts nginx with TLS and additional lines in its configuration.
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

    @Test func `a thousand pushes to nghttpd with TLS`() async throws {
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

    @Test func `a thousand pushes to nghttpd without TLS`() async throws {
        let server = try await PeerServer.start("nghttpd", in: ScratchDirectory()) { port in
            ["--address=127.0.0.1", "--echo-upload", "--no-tls", "\(port)"]
        }
        let outcomes = try await send(
            to: APNsEndpoint(host: "127.0.0.1", port: server.port, isEncrypted: false),
            trusting: nil
        )
        #expect(outcomes == ["200": Self.pushes])
    }

    @Test func `a thousand pushes to nginx`() async throws {
        let outcomes = try await sendToNginx(requestsPerConnection: 100_000)
        #expect(outcomes == ["200": Self.pushes])
    }

    /// nginx closes a connection after a number of requests, with a GOAWAY while others are in flight: the client sends
    /// the unprocessed ones on another connection.
    @Test func `nginx closes connections with pushes in flight`() async throws {
        let outcomes = try await sendToNginx(requestsPerConnection: 70)
        #expect(outcomes == ["200": Self.pushes])
    }

    /// The number of pushes of the long tests.
    private static let manyPushes = ProcessInfo.processInfo.environment["MARTLET_PUSHES"].flatMap { Int($0) } ?? 20_000

    /// Sends many pushes, and returns the failures and the number of connections.
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

    @Test func `no push is lost when connections close every thousand pushes`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "keepalive_requests 1000; location / { return 200; }")
        let outcome = try await sendMany(to: server.port, trusting: identity.authority, retry: .none)
        #expect(outcome.failures.isEmpty, "\(outcome.failures.prefix(3))")
        #expect(outcome.connections <= Self.manyPushes / 1_000 + 1)
    }

    @Test func `no push is lost on cut connections with retries of unknown outcomes`() async throws {
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

    /// Starts tinyproxy with one user and CONNECT to any port.
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

    @Test func `a proxy with a password requires the right credentials`() async throws {
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

    @Test func `the command sends through the proxy of an option`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "location / { return 200; }")
        let proxy = try await startProxy()
        let authority = try identity.scratch.write(identity.authority, to: "authority.pem")
        let push = [
            "--host", "localhost:\(server.port)", "--ca", authority, "--topic", topic.rawValue, "--no-retry",
        ]
        for (password, status) in [("secret", Int32(0)), ("guess", 3)] {
            let url = "http://martlet:\(password)@127.0.0.1:\(proxy.port)"
            let sent = try await ProgramRun(
                MartletProcess.program,
                ["send", "--proxy", url, "--to", token.hex, "--title", "Hi"] + push
            )
            #expect(sent.status == status, "\(sent.text)\(sent.errorOutput)")
            let checked = try await ProgramRun(MartletProcess.program, ["doctor", "--proxy", url] + push)
            #expect(checked.status == status, "\(checked.text)")
            #expect(checked.text.contains("proxy: 127.0.0.1:\(proxy.port), from --proxy"), "\(checked.text)")
            #expect(checked.text.contains("user and password") == (status != 0), "\(checked.text)")
            let printed = sent.text + sent.errorOutput + checked.text + checked.errorOutput
            #expect(!printed.contains(password + "@") && !printed.contains(":" + password), "\(printed)")
        }
    }

    @Test func `a server without TLS 1.3 is rejected if TLS 1.3 is required`() async throws {
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

    @Test func `the error for a server without HTTP/2 names the reason`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, isHTTP2: false, "location / { return 200; }")
        let error = await failure(at: server, .token(try .ephemeral()), trusting: identity.authority)
        #expect(error?.code == .notHTTP2)
        #expect(error?.outcome == .neverSent)
    }

    @Test func `an untrusted server gets no push`() async throws {
        let identity = try Identity()
        let server = try await startNginx(identity, "location / { return 200; }")
        let error = await failure(at: server, .token(try .ephemeral()), trusting: nil)
        #expect(error?.code == .certificateRejected)
        #expect(error?.outcome == .neverSent)
    }

    @Test func `a server that requires a client certificate accepts it`() async throws {
        let identity = try Identity()
        let provider = try ScratchDirectory()
        let request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=com.example.app"
        let run = try await ProgramRun(
            "openssl",
            request.split(separator: " ").map(String.init)
                + ["-keyout", provider.path + "/key.pem", "-out", provider.path + "/certificate.pem"]
        )
        #expect(run.status == 0, "\(run.errorOutput)")
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
        let shown = PushClient.Authentication.certificate(
            try ProviderCertificate(
                pem: provider.read("certificate.pem"),
                privateKeyPEM: provider.read("key.pem")
            )
        )
        #expect(await failure(at: server, shown, trusting: identity.authority) == nil)
        let without = await failure(at: server, .token(try .ephemeral()), trusting: identity.authority)
        #expect(without?.reason == .badCertificate)
    }

    @Test func `the error for a rejected client certificate names the reason`() async throws {
        let identity = try Identity()
        let server = try await PeerServer.start("openssl", in: identity.scratch) { port in
            let options = ["-alpn", "h2", "-Verify", "1", "-verify_return_error", "-quiet"]
            return ["s_server", "-accept", "\(port)", "-cert", identity.certificate, "-key", identity.key] + options
        }
        let stranger = try CertificateAuthority().issueServerCertificate(dnsNames: ["stranger"], ipAddresses: [])
        let shown = PushClient.Authentication.certificate(
            try ProviderCertificate(pem: stranger.certificatePEM, privateKeyPEM: stranger.keyPEM)
        )
        let error = await failure(at: server, shown, trusting: identity.authority)
        #expect(error?.code == .certificateRejected, "\(String(describing: error))")
    }

    /// Sends one push and returns its error, if any.
    private func failure(
        at server: PeerServer,
        _ authentication: PushClient.Authentication,
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
