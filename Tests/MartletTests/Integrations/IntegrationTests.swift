// SPDX-License-Identifier: Apache-2.0

// With `make traits`, which enables all of them.
#if ServiceLifecycleSupport && LoggingSupport && MetricsSupport && TracingSupport && ConfigurationSupport
    import Configuration
    import InMemoryTracing
    import Logging
    import Martlet
    import MartletSimulator
    import MetricsTestKit
    import ServiceLifecycle
    import Synchronization
    import TestSupport
    import Testing
    import Tracing
    import UnixSignals

    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Tests of the optional packages: services, logs, metrics, spans and configurations.
    @Suite(.timeLimit(.minutes(10))) struct IntegrationTests {
        private let token: DeviceToken

        init() throws {
            token = try DeviceToken(hex: String(repeating: "5d3a6a1c", count: 8))
        }

        @Test func `a client and a simulator in a service group close after SIGTERM`()
            async throws
        {
            let apns = try await SimulatedAPNs.start()
            let client = try await PushClient(
                apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: apns.clientConfiguration
            )
            let sender = SendingService(client: client, token: token)
            let group = ServiceGroup(
                services: [apns, client, sender],
                gracefulShutdownSignals: [.sigterm],
                logger: Logger(label: "group")
            )
            let running = Task { try await group.run() }
            await sender.sent.wait()
            kill(getpid(), SIGTERM)
            try await running.value
            let error = await #expect(throws: APNsError.self) {
                try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
            }
            #expect(error?.code == .closed)
            #expect(sender.wasAccepted.withLock { $0 })
        }

        @Test func `a cancelled task closes its client`() async throws {
            let apns = try await SimulatedAPNs.start()
            let client = try await PushClient(
                apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: apns.clientConfiguration
            )
            let running = Task { await client.run() }
            running.cancel()
            await running.value
            let error = await #expect(throws: APNsError.self) {
                try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
            }
            #expect(error?.code == .closed)
            await apns.stop()
        }

        @Test func `sends are logged, counted and traced in the span of the caller`() async throws {
            let apns = try await SimulatedAPNs.start()
            let (logs, metrics, tracer) = (RecordedLogs(), TestMetrics(), InMemoryTracer())
            var configuration = apns.clientConfiguration
            configuration.logger = Logger(label: "client") { _ in LogRecorder(logs) }
            configuration.metricsFactory = metrics
            configuration.tracer = tracer
            let client = try await PushClient(
                apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: configuration
            )
            let accepted = try await tracer.withSpan("order is ready") { _ in
                try await client.send(.alert("Secret text"), to: token, topic: "com.example.app")
            }
            await #expect(throws: APNsError.self) {
                try await client.send(
                    .alert("Hi"),
                    to: DeviceToken(hex: String(repeating: "0", count: 58) + "00dead"),
                    topic: "com.example.app"
                )
            }
            await client.close()
            await apns.stop()

            let lines = logs.lines.withLock { $0 }
            let line = try #require(lines.first { $0.message == "push accepted" })
            #expect(line.level == .trace && line.metadata["apns-id"] == "\(accepted.id)")
            #expect(line.metadata["apns-topic"] == "com.example.app" && line.metadata["apns-push-type"] == "alert")
            let failure = try #require(lines.first { $0.message == "push not accepted" })
            #expect(failure.level == .debug && failure.metadata["status"] == "410")
            #expect(failure.metadata["reason"] == "Unregistered")
            #expect(lines.contains { $0.message == "connected to APNs" })
            let text = "\(lines)"
            #expect(!text.contains(token.hex) && !text.contains("Secret text") && !text.contains("bearer"))

            let counter = try metrics.expectCounter("martlet.client.pushes", [("outcome", "accepted"), ("reason", "")])
            #expect(counter.totalValue == 1)
            let dimensions = [("outcome", "answered"), ("reason", "Unregistered")]
            #expect(try metrics.expectCounter("martlet.client.pushes", dimensions).totalValue == 1)
            #expect(try metrics.expectCounter("martlet.client.connections.opened").totalValue >= 1)
            #expect(try metrics.expectTimer("martlet.client.push.duration").values.count == 2)

            let spans = tracer.finishedSpans
            let caller = try #require(spans.first { $0.operationName == "order is ready" })
            let sends = spans.filter { $0.operationName == "apns send" }
            #expect(sends.count == 2)
            let send = try #require(sends.first)
            #expect(send.spanContext.parentSpanID == caller.spanContext.spanID)
            #expect(send.spanContext.traceID == caller.spanContext.traceID)
            #expect(sends.last?.status?.code == .error)
            #expect(sends.last?.attributes["error.type"]?.toSpanAttribute() == .string("Unregistered"))
        }

        @Test func `a client is created from a configuration`() async throws {
            let apns = try await SimulatedAPNs.start()
            let scratch = try ScratchDirectory()
            let authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            let made = try await ProgramRun(
                "openssl",
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            )
            let key = try scratch.write(made.output, to: "key.p8")
            let port = await apns.port
            let values: [AbsoluteConfigKey: ConfigValue] = [
                ["apns", "key-file"]: ConfigValue(.string(key), isSecret: false),
                ["apns", "key-id"]: "ABC123DEFG", ["apns", "team-id"]: "DEF123GHIJ",
                ["apns", "host"]: "localhost",
                ["apns", "port"]: ConfigValue(.int(Int(port)), isSecret: false),
                ["apns", "authorities-file"]: ConfigValue(.string(authority), isSecret: false),
                ["apns", "send-timeout"]: 5.0, ["apns", "allows-retries"]: false,
            ]
            let reader = ConfigReader(provider: InMemoryProvider(values: values))
            let client = try PushClient(config: reader.scoped(to: "apns"))
            try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
            let configuration = try PushClient.Configuration(config: reader.scoped(to: "apns"))
            #expect(configuration.sendTimeout == .seconds(5) && !configuration.allowsRetries)
            #expect(throws: (any Error).self) { try PushClient(config: reader) }
            await client.close()
            await apns.stop()
        }

        @Test func `the proxy is that of the configuration, or of the environment`() async throws {
            let apns = try await SimulatedAPNs.start()
            let port = await apns.port
            let proxy = try TunnelProxy(to: port)
            let scratch = try ScratchDirectory()
            let authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            let made = try await ProgramRun(
                "openssl",
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            )
            let key = try scratch.write(made.output, to: "key.p8")
            var values: [AbsoluteConfigKey: ConfigValue] = [
                ["key-file"]: ConfigValue(.string(key), isSecret: false), ["key-id"]: "ABC123DEFG",
                ["team-id"]: "DEF123GHIJ", ["host"]: "api.push.apple.com",
                ["authorities-file"]: ConfigValue(.string(authority), isSecret: false), ["send-timeout"]: 5.0,
            ]
            let url = "http://user:secret@127.0.0.1:\(proxy.port)"
            for (hasKey, environment) in [(true, [:]), (false, ["HTTPS_PROXY": url])] as [(Bool, [String: String])] {
                values[["proxy"]] = hasKey ? ConfigValue(.string(url), isSecret: true) : nil
                let reader = ConfigReader(provider: InMemoryProvider(values: values))
                let client = try PushClient(config: reader, configuration: nil, environment: environment)
                try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
                await client.close()
            }
            #expect(proxy.requests.count == 2)
            #expect(proxy.requests.allSatisfy { $0.hasPrefix("CONNECT api.push.apple.com:443 ") })
            proxy.stop()
            await apns.stop()
        }

        @Test func `an environment that may be a secret is not shown`() async throws {
            let made = try await ProgramRun(
                "openssl",
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            )
            let scratch = try ScratchDirectory()
            let key = try scratch.write(made.output, to: "key.p8")
            for (text, message) in [("sandbox", "(found \"sandbox\")"), (made.text, "(found text of")] {
                let values: [AbsoluteConfigKey: ConfigValue] = [
                    ["key-file"]: ConfigValue(.string(key), isSecret: false), ["key-id"]: "ABC123DEFG",
                    ["team-id"]: "DEF123GHIJ", ["environment"]: ConfigValue(.string(text), isSecret: false),
                ]
                let reader = ConfigReader(provider: InMemoryProvider(values: values))
                let error = #expect(throws: APNsError.self) { try PushClient(config: reader) }
                #expect(error?.description.contains(message) == true && error?.description.contains("BEGIN") == false)
            }
        }

        @Test(arguments: ["connect-timeout", "send-timeout"])
        func `a time that is out of range is refused`(key: String) {
            for value in [-1, 1e300, .infinity, .nan] {
                let values: [AbsoluteConfigKey: ConfigValue] = [[key]: ConfigValue(.double(value), isSecret: false)]
                let reader = ConfigReader(provider: InMemoryProvider(values: values))
                let error = #expect(throws: APNsError.self) { try PushClient.Configuration(config: reader) }
                #expect(error?.code == .invalid && error?.description.contains(key) == true)
            }
        }
    }

    /// A service that sends one push and then waits for the end.
    private struct SendingService: Service {
        let client: PushClient
        let token: DeviceToken
        let sent = Gate()
        let wasAccepted = SharedFlag()

        func run() async throws {
            try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
            sent.open()
            try await gracefulShutdown()
            // The client is closed after this service.
            try await client.send(.alert("Bye"), to: token, topic: "com.example.app")
            wasAccepted.withLock { $0 = true }
        }
    }

    private final class SharedFlag: Sendable {
        private let value = Mutex(false)

        func withLock<Result: Sendable>(_ body: (inout sending Bool) -> sending Result) -> Result {
            value.withLock(body)
        }
    }

    private final class RecordedLogs: Sendable {
        struct Line {
            let level: Logger.Level
            let message: String
            let metadata: Logger.Metadata
        }

        let lines = Mutex<[Line]>([])
    }

    private struct LogRecorder: LogHandler {
        let logs: RecordedLogs
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ logs: RecordedLogs) {
            self.logs = logs
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = RecordedLogs.Line(
                level: event.level,
                message: event.message.description,
                metadata: event.metadata ?? [:]
            )
            logs.lines.withLock { $0.append(line) }
        }
    }
#endif
