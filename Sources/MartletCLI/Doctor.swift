// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Checks each precondition for delivering a push, and advises how to fix errors.
    static let doctor = Command(
        "doctor",
        "Check the key or certificate, proxy, network, TLS, credentials, topic and clock, and print advice",
        examples: [
            "doctor --environment production --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ --topic com.example.app",
            "doctor --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app",
        ],
        Option<String>.topic,
        Option<DeviceToken?>("--to", "Device for a silent test push; by default a token that no device has"),
        ServerOptions.declared,
        OutputFormat.declared
    ) { topic, token, server, output in
        guard Topic.isBundleIdentifier(topic) else {
            throw UsageError(
                "--topic must be a bundle identifier: parts of letters, digits, hyphens and underscores, with one dot "
                    + "between two parts (found \(ShownValue.quoted(topic)))"
            )
        }
        var diagnosis = Diagnosis(topic: Topic(topic), token: token, server: server, output: output)
        let status = try await diagnosis.run()
        if output.isJSON { Terminal.output.write(diagnosis.json.line) }
        if status != .success { throw CommandFailure(status) }
    }
}

/// A sequence of checks, which stops at the first failure, because later checks depend on earlier ones.
private struct Diagnosis {
    /// A token that no device has, so that no user is notified.
    private static let unusedToken = String(repeating: "0", count: 64)
    /// A channel that does not exist, so that no Live Activity changes.
    private static let unusedChannel: ChannelID = "AAAAAAAAAAAAAAAAAAAAAA=="

    /// The result of a check.
    private struct Step {
        var name: String
        var message: String
        /// The advice; nil if pushes can be delivered without it.
        var advice: String?
        /// The code of the failure; nil if the check succeeded.
        var error: String?

        /// The word before the check, and its style.
        var mark: (String, TextStyle) {
            if advice != nil { return ("bad ", .bad) }
            return error == nil ? ("ok  ", .good) : ("note", .bold)
        }

        var json: JSONValue {
            let facts = [("step", name), ("message", message), ("error", error), ("advice", advice)]
            let members = facts.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } }
            return .object(members + [.init("ok", .bool(error == nil))])
        }
    }

    let topic: Topic
    let token: DeviceToken?
    let server: ServerOptions
    let output: OutputFormat
    private var proxy: PushClient.Proxy?
    private var certificate: ProviderCertificate?
    private var steps: [Step] = []

    init(topic: Topic, token: DeviceToken?, server: ServerOptions, output: OutputFormat) {
        self.topic = topic
        self.token = token
        self.server = server
        self.output = output
    }

    /// All checks, and the first failure, as JSON.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("ok", .bool(steps.allSatisfy { $0.advice == nil })), .init("steps", .array(steps.map(\.json))),
        ]
        if let failed = steps.first(where: { $0.advice != nil }) {
            members.append(.init("error", .string(failed.error ?? "")))
            members.append(.init("message", .string("\(failed.name): \(failed.message)")))
        }
        return .object(members)
    }

    /// Runs the checks.
    ///
    /// - Returns: The exit status of the failed check, or success.
    mutating func run() async throws -> ExitStatus {
        guard let client = checkOptions() else { return .usage }
        let events = client.events()
        var status = await connect(client)
        if status == .success { status = try await push(client) }
        await client.close()
        if status == .success { try await checkBroadcasts() }
        for await case .clockSkew(let skew) in events {
            let seconds = skew.components.seconds
            fail(
                "clock",
                "this machine's clock is \(seconds.magnitude.counted("second")) "
                    + "\(seconds < 0 ? "behind" : "ahead of") the server's",
                "Set this machine's clock.",
                error: "clockSkew"
            )
            status = max(status, .failure)
        }
        return status
    }

    /// Checks the options and the files that they name; returns nil if one cannot be used.
    private mutating func checkOptions() -> PushClient? {
        let name = server.hasCertificate ? "certificate" : "key"
        do throws(CredentialError) {
            certificate = try server.clientCertificate()
            _ = try server.authentication()
            if let error = certificate?.validityError(at: Date()) { throw error }
        } catch {
            fail(name, error.description, error.advice, error: "usage")
            return nil
        }
        do {
            _ = try server.additionalAuthorities()
        } catch {
            fail("CA certificates", "\(error)", "Give --ca the server's CA certificates, PEM.", error: "usage")
            return nil
        }
        do {
            proxy = try server.proxy()
        } catch {
            fail("proxy", "\(error)", "Correct the variable, or give --proxy the proxy.", error: "usage")
            return nil
        }
        do {
            let client = try server.client()
            report(Step(name: name, message: credentialsMessage))
            if let proxy {
                let source = server.hasProxyOption ? "--proxy or MARTLET_PROXY" : "the environment variables"
                report(Step(name: "proxy", message: "\(proxy.address), from \(source)"))
            }
            return client
        } catch {
            fail(name, "\(error)", "Check the options for the server.", error: "usage")
            return nil
        }
    }

    private var credentialsMessage: String {
        guard let certificate else {
            return server.hasGeneratedKey ? "generated, for a simulator (--key was not given)" : "valid"
        }
        let facts = [
            certificate.topicList.map { "for \($0)" }, certificate.environmentList.map { "in \($0)" },
        ]
        return (["valid"] + facts.compactMap(\.self)).joined(separator: ", ")
    }

    private mutating func connect(_ client: PushClient) async -> ExitStatus {
        do throws(APNsError) {
            try await client.warmUp()
            return .success
        } catch {
            return failNetwork(error)
        }
    }

    private var networkStep: String { server.isEncrypted ? "network and TLS" : "network" }

    private mutating func reportNetwork() {
        let message =
            server.isEncrypted
            ? "connected; the server is trusted and supports HTTP/2"
            : "connected without TLS; the server supports HTTP/2"
        report(Step(name: networkStep, message: message))
    }

    private mutating func failNetwork(_ error: APNsError) -> ExitStatus {
        fail(networkStep, error.description, networkAdvice(for: error), error: error.code.description)
        return ExitStatus(of: error)
    }

    private func networkAdvice(for error: APNsError) -> String {
        if error.code != .certificateRejected, let hint = server.hint(for: error) {
            return hint.prefix(1).uppercased() + hint.dropFirst() + "."
        }
        if let proxy, let text = advice(for: error, through: proxy) { return text }
        return switch error.code {
        case .nameNotResolved:
            "Check the name server of this machine, and the spelling of the host"
                + (server.isApple ? "; if this network has an HTTP proxy, give --proxy or set HTTPS_PROXY." : ".")
        case .connectionFailed, .timedOut:
            server.isApple
                ? "Allow port 443 or 2197 to Apple's network 17.0.0.0/8, or try --host api.push.apple.com:2197; "
                    + "if this network has an HTTP proxy, give --proxy or set HTTPS_PROXY."
                : "Check that the server is running, and that --host has its port."
        case .certificateRejected:
            server.isApple
                ? "Update the certificates of this machine."
                : #"Give --ca the server's authority; for a simulator --ca "$(martlet ca path)"."#
        case .notHTTP2: "Remove the proxy that terminates TLS between this machine and the server."
        default: "Check the network."
        }
    }

    /// Returns advice for an error that a proxy may cause; nil for other errors.
    private func advice(for error: APNsError, through proxy: PushClient.Proxy) -> String? {
        switch error.code {
        case .nameNotResolved: "Check the name server of this machine, and the host of the proxy \(proxy.address)."
        case .connectionFailed, .timedOut:
            "Check that the proxy is running and permits CONNECT to \(server.address), "
                + "and that its URL has the right user and password."
        default: nil
        }
    }

    private mutating func push(_ client: PushClient) async throws -> ExitStatus {
        let name = "credentials and topic"
        let device = try token ?? DeviceToken(hex: Diagnosis.unusedToken)
        do throws(APNsError) {
            try await client.send(
                .background(expiration: .attemptOnce),
                to: device,
                topic: topic,
                options: SendOptions(retry: RetryPolicy.none)
            )
            reportNetwork()
            report(Step(name: name, message: "a silent push was accepted"))
        } catch {
            // Without TLS, only an answer shows that the server supports HTTP/2.
            guard ExitStatus(of: error) != .unreachable else { return failNetwork(error) }
            reportNetwork()
            guard token == nil, error.reason == .badDeviceToken else {
                fail(name, error.description, advice(for: error), error: error.code.description)
                return ExitStatus(of: error)
            }
            report(Step(name: name, message: "accepted; APNs refuses only the test token, which no device has"))
        }
        if !server.hasCertificate {
            report(
                Step(
                    name: "clock",
                    message: "within an hour of the server's, which accepted the time in the provider token"
                )
            )
        }
        return .success
    }

    /// Reports the answer of each of Apple's hosts for broadcasts to a broadcast on a channel that does not exist.
    ///
    /// Apple's pages name two hosts, and clients differ in the one they use; Martlet sends broadcasts to the host of
    /// other pushes. The exit status does not depend on the answers, because most apps send no broadcasts.
    private mutating func checkBroadcasts() async throws {
        for options in server.broadcastServers {
            let name = "broadcasts at \(options.endpoint.host)"
            let update = try LiveActivityUpdate.update(JSONValue.object([]))
            let client = try options.client()
            do throws(APNsError) {
                try await client.broadcast(
                    update,
                    to: Diagnosis.unusedChannel,
                    topic: topic,
                    options: SendOptions(retry: RetryPolicy.none)
                )
                report(Step(name: name, message: "available"))
            } catch {
                report(Diagnosis.broadcastStep(name, after: error))
            }
            await client.close()
        }
    }

    private static func broadcastStep(_ name: String, after error: APNsError) -> Step {
        switch error.reason {
        case .channelNotRegistered?, .badChannelID?:
            Step(name: name, message: "available; APNs refuses only the test channel, which does not exist")
        case .featureNotEnabled?:
            Step(
                name: name,
                message: "not available: enable broadcasts for the app's identifier in your developer account",
                error: error.code.description
            )
        default: Step(name: name, message: "not available: \(error)", error: error.code.description)
        }
    }

    private func advice(for error: APNsError) -> String {
        switch (error.advice, error.reason) {
        case (_, .badDeviceToken?): "The token may be from the other environment: see --environment."
        case (_, .deviceTokenNotForTopic?): "The token is another app's: compare --topic with its bundle identifier."
        case (_, .topicDisallowed?), (_, .badTopic?), (_, .missingTopic?):
            if let topics = certificate?.topicList {
                "The certificate is for \(topics): give --topic one of them, or --certificate that of the app."
            } else {
                "Check that --topic is the bundle identifier, and that the key belongs to the team of the app."
            }
        case (_, .expiredProviderToken?): "Set this machine's clock."
        case (.correctConfiguration, _) where certificate != nil:
            "Check that the certificate is for this environment, and neither expired nor revoked: see --environment."
        case (.correctConfiguration, _):
            "Check that --key, --key-id and --team-id belong together, and to this environment."
        case (.forgetToken, _): "The app was removed from the device, or has a newer token."
        default: "Try again later, and see https://developer.apple.com/system-status/."
        }
    }

    private mutating func fail(_ name: String, _ message: String, _ advice: String, error: String) {
        report(Step(name: name, message: message, advice: advice, error: error))
    }

    /// Stores a result and, unless the output is JSON, prints it.
    private mutating func report(_ step: Step) {
        steps.append(step)
        guard !output.isJSON else { return }
        let (mark, style) = step.mark
        Terminal.output.write("\(Terminal.output.styled(mark, style))  \(step.name): \(step.message)\n")
        if let advice = step.advice { Terminal.output.write("      \(advice)\n") }
    }
}
