// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The commands that the scripts in `Benchmarks` measure.
@main
struct MartletBench {
    /// The executor of the sending tasks.
    enum TaskExecution: String, CaseIterable, ArgumentValue {
        /// The default pool, as in an ordinary program.
        case awaited
        /// The client's own executor, as recommended for bulk sends.
        case onLoop = "on-loop"
    }

    private struct Order: Encodable {
        var deepLink = "app://orders/42"
        var order = "42"
    }

    private static let send = Command(
        "send",
        "Send typed alerts to a server that answers 200",
        examples: ["send --port 8443 --ca certificate.pem --pushes 200000 --streams 900 --executor awaited"],
        Option<UInt16>("--port", "Port of the server on this machine"),
        Option<String>("--ca", "File of the certificate to trust, PEM"),
        Option<Int>("--pushes", "Number of pushes"),
        Option<Int>("--streams", "Number of pushes in flight"),
        Option<TaskExecution>("--executor", "Executor of the sending tasks")
    ) { port, authority, pushes, streams, way in
        let client = try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: port),
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: String(contentsOfFile: authority, encoding: .utf8))
        )
        let tokens = try someTokens()
        let custom = try PushNotification.CustomData(Order())
        try await withThrowingTaskGroup { group in
            for first in 0..<streams {
                group.addTask(executorPreference: way == .onLoop ? client.executor : nil) {
                    for number in stride(from: first, to: pushes, by: streams) {
                        let alert = PushNotification.Alert(
                            title: "Order ready",
                            subtitle: "Pickup window closes at 6 PM",
                            body: "Tap to open the order and see where to collect it from the counter."
                        )
                        _ = try await client.send(
                            .alert(alert, sound: .default, badge: 3, threadID: "orders-42", custom: custom),
                            to: tokens[number % tokens.count],
                            topic: "com.example.app"
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        await client.close()
    }

    /// A sequence of devices that repeats a few tokens.
    private struct Devices: Sequence, Sendable {
        let tokens: [DeviceToken]
        let count: Int

        struct Iterator: IteratorProtocol {
            let tokens: [DeviceToken]
            var left: Int

            mutating func next() -> DeviceToken? {
                guard left > 0 else { return nil }
                left -= 1
                return tokens[left % tokens.count]
            }
        }

        func makeIterator() -> Iterator {
            Iterator(tokens: tokens, left: count)
        }
    }

    /// The number of pushes in a slice, for which the CPU time is measured.
    ///
    /// The median of the slices is printed, because bursts of other work on the machine would distort the mean.
    private static let sliceLength = 10_000

    private static let bulk = Command(
        "bulk",
        "Send one typed alert to many devices at a server that answers 200",
        examples: ["bulk --port 8443 --ca certificate.pem --pushes 1000000 --connections 1 --loops 1"],
        Option<UInt16>("--port", "Port of the server on this machine"),
        Option<String>("--ca", "File of the certificate to trust, PEM"),
        Option<Int>("--pushes", "Number of pushes"),
        Option<Int>("--connections", "Number of connections"),
        Option<Int>("--loops", "Number of event loops")
    ) { port, authority, pushes, connections, loops in
        let client = try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: port),
            authentication: .token(.ephemeral()),
            configuration: .init(
                additionalAuthorities: String(contentsOfFile: authority, encoding: .utf8),
                connectionLimit: connections,
                eventLoops: loops
            )
        )
        let tokens = try someTokens()
        let notification = try alert()
        try await client.warmUp(connections: connections)
        let devices = Devices(tokens: tokens, count: pushes)
        let start = ContinuousClock.now
        var accepted = 0
        var startOfSlice = processorSeconds()
        var slices: [Double] = []
        for await outcome in client.send(notification, to: devices, topic: "com.example.app")
        where outcome.error == nil {
            accepted += 1
            guard accepted % sliceLength == 0 else { continue }
            let now = processorSeconds()
            slices.append((now - startOfSlice) * 1e6 / Double(sliceLength))
            startOfSlice = now
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        slices.sort()
        let work = slices.isEmpty ? 0 : slices[slices.count / 2]
        print(#"{"accepted":\#(accepted),"cpu_us":\#(work),"seconds":\#(seconds)}"#)
        await client.close()
    }

    private static func alert() throws -> PushNotification {
        let alert = PushNotification.Alert(
            title: "Order ready",
            subtitle: "Pickup window closes at 6 PM",
            body: "Tap to open the order and see where to collect it from the counter."
        )
        return .alert(
            alert,
            sound: .default,
            badge: 3,
            threadID: "orders-42",
            custom: try PushNotification.CustomData(Order())
        )
    }

    /// Returns the CPU time of the process in seconds.
    private static func processorSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static let surface = Command(
        "surface",
        "Read a Live Activity snapshot from JSON and write its content state repeatedly",
        examples: ["surface --times 200000"],
        Option<Int>("--times", "Number of repetitions")
    ) { times in
        let bytes = SurfaceSnapshot.example(of: .liveActivity).json.encoded()
        var written = 0
        for _ in 0..<times {
            written += try SurfaceSnapshot(parsing: bytes).asLiveActivity().contentState.json.encoded().count
        }
        print("\(bytes.count) bytes in, \(written / max(1, times)) out")
    }

    /// Returns device tokens that look random and are cheap to generate, because their generation is not measured.
    private static func someTokens() throws -> [DeviceToken] {
        var state: UInt64 = 1
        return try (0..<4_096).map { _ in
            var bytes: [UInt8] = []
            for _ in 0..<32 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(UInt8(truncatingIfNeeded: state >> 56))
            }
            return try DeviceToken(bytes: bytes)
        }
    }

    static func main() async {
        let program = Program(
            "MartletBench",
            "measures the client and the snapshots",
            commands: [
                send, bulk, surface, Rows.command, SharedOutboxes.store, SharedOutboxes.claim, Audiences.page,
                Audiences.rows,
            ],
            report: { ErrorReport(status: $0 is UsageError ? .usage : .failure, message: "\($0)", json: "{}") }
        )
        exit(await program.run(Array(CommandLine.arguments.dropFirst()), environment: [:]))
    }
}
