import APNsClient
import Foundation
import TestSupport
import Testing
import Wire

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
                    do {
                        let token = try DeviceToken(bytes: [UInt8(number >> 8), UInt8(number & 0xFF)])
                        try await client.send(.alert("push \(number)"), to: token, topic: "com.example.app")
                        return "200"
                    } catch let error as APNsError {
                        return error.mayHaveBeenProcessed ? "\(error)" : "unprocessed"
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
        #expect(try await sendToNginx(requestsPerConnection: 100_000) == ["200": Self.pushes])
    }

    /// nginx ends a connection after a number of requests, with a GOAWAY while others are on their way: the client
    /// knows of each that nginx did not act on it, and what still waits goes out on another connection.
    @Test func `nginx ends connections under way`() async throws {
        let outcomes = try await sendToNginx(requestsPerConnection: 70)
        let answered = outcomes["200", default: 0]
        #expect(answered > 70)
        #expect(outcomes == ["200": answered, "unprocessed": Self.pushes - answered])
    }

    private func sendToNginx(requestsPerConnection: Int) async throws -> [String: Int] {
        let identity = try Identity()
        let server = try await PeerServer.start("nginx", in: identity.scratch) { port in
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
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate \(identity.certificate);
                        ssl_certificate_key \(identity.key);
                        http2_max_concurrent_streams 100;
                        keepalive_requests \(requestsPerConnection);
                        location / { return 200; }
                    }
                }
                """
            let file = try identity.scratch.write(configuration, to: "nginx.conf")
            return ["-e", "\(identity.scratch.path)/error.log", "-p", identity.scratch.path, "-c", file]
        }
        return try await send(to: APNsEndpoint(host: "localhost", port: server.port), trusting: identity.authority)
    }
}
