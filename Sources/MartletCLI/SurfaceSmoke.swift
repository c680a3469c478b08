// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands
import MartletCore
import MartletSimulator
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Sends the examples of all surfaces to a simulator, and prints what the phone shows.
    static let surfaceSmoke = Command(
        "surface smoke",
        "Send the examples of all surfaces to a simulator, and print what a phone shows; exit 1 if one is not shown",
        examples: ["surface smoke", "surface smoke --url http://127.0.0.1:8197 --topic com.example.app"],
        Option<InterfaceAddress?>(
            "--url",
            "HTTP interface of a running simulator, host:port or a URL; by default the command starts a simulator",
            variable: "MARTLET_SIMULATOR_URL"
        ),
        Option("--topic", "Bundle identifier of the app", default: "com.example.app"),
        OutputFormat.declared
    ) { address, topic, output in
        let loop = try EventLoop()
        defer { loop.shutdown() }
        if let address { return try await SurfaceSmoke(address, Topic(topic), output, on: loop).run() }
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let local = InterfaceAddress(localPort: await apns.inboxPort ?? 0)
        do {
            try await SurfaceSmoke(local, Topic(topic), output, on: loop).run()
        } catch {
            await apns.stop()
            throw error
        }
        await apns.stop()
    }
}

/// A run of `martlet surface smoke`.
private struct SurfaceSmoke {
    private let simulator: SimulatorInterface
    private let topic: Topic
    private let output: OutputFormat
    /// The device that receives alerts and silent pushes.
    private let device: DeviceToken
    /// The device whose Live Activity has a token.
    private let starter: DeviceToken
    /// The device whose Live Activity subscribes to a channel.
    private let subscriber: DeviceToken

    init(_ address: InterfaceAddress, _ topic: Topic, _ output: OutputFormat, on loop: EventLoop) throws {
        simulator = try SimulatorInterface(address, on: loop)
        self.topic = topic
        self.output = output
        let end = "8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac"
        device = try DeviceToken(hex: "5d3a6a1c" + end)
        starter = try DeviceToken(hex: "51a27e00" + end)
        subscriber = try DeviceToken(hex: "f21e9d00" + end)
    }

    func run() async throws {
        let client = try await simulator.client()
        var rows: [SmokeRow] = []
        do {
            for example in SurfaceExample.all where example.snapshot.kind != .liveActivity {
                let row = try await send(example, as: example.snapshot.kind == .notification ? .alert : .silent, client)
                rows.append(row)
            }
            try await sendActivities(client, into: &rows)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        print(rows)
        guard rows.allSatisfy(\.isExpected) else { throw CommandFailure() }
    }

    /// Sends each example of a Live Activity as an alert, through an activity's life, and as a broadcast.
    private func sendActivities(_ client: PushClient, into rows: inout [SmokeRow]) async throws {
        let channels = client.channels(of: topic)
        let channel = try await channels.create()
        let examples = SurfaceExample.all.filter { $0.snapshot.kind == .liveActivity }
        for (index, example) in examples.enumerated() {
            rows.append(try await send(example, as: .alert, client))
            let start = try await send(example, as: .start(starter), client)
            rows.append(start)
            // Without the activity, there is no token to update.
            if start.isExpected {
                let token = try await simulator.activity(startedOn: starter)
                rows.append(try await send(example, as: .update(token), client))
                rows.append(try await send(example, as: .end(token), client))
            }
            if index == 0 { rows.append(try await send(example, as: .subscribe(subscriber, channel), client)) }
            rows.append(try await send(example, as: .broadcast(channel, number: index), client))
        }
        try await channels.delete(channel)
    }

    /// Sends an example, and returns its result.
    private func send(_ example: SurfaceExample, as way: SmokeWay, _ client: PushClient) async throws -> SmokeRow {
        let id = APNsID.random()
        var row = SmokeRow(example: example, way: way)
        var delivery = SurfaceDelivery(id: id)
        // Each push to an activity must be newer than the one before; past times need no pause of a second.
        delivery.timestamp = way.age.map { Date.now.addingTimeInterval(-$0) }
        if case .subscribe(_, let channel) = way { delivery.updateSource = .byChannel(channel) }
        do throws(APNsError) {
            let destination = way.destination(device)
            let receipt = try await client.send(example.snapshot, to: destination, topic: topic, delivery: delivery)
            row.status = 200
            row.id = receipt.id
        } catch {
            guard error.code == .refused || error.code == .invalid else { throw error }
            row.status = error.status
            row.problem = "\(error)"
            return row
        }
        let verdict = try await simulator.push(id)["verdict"]
        row.verdict = verdict?["kind"]?.stringValue.flatMap(PushVerdict.Kind.init(rawValue:))
        row.text = verdict?["text"]?.stringValue ?? ""
        return row
    }

    private func print(_ rows: [SmokeRow]) {
        guard !output.isJSON else { return Terminal.output.write(rows.map(\.json.line).joined()) }
        var table = Table(["example", "sent as", Table.Column("status", isNumeric: true), "content", "the phone"])
        for row in rows { table.add(row.cells) }
        let wrong = rows.count { !$0.isExpected }
        let summary =
            wrong == 0
            ? "The phone shows each of the \(rows.count.counted("push")), or wakes the app that shows it."
            : "\(wrong) of \(rows.count.counted("push")) \(wrong == 1 ? "is" : "are") not shown."
        Terminal.output.write(table.text(for: .output) + "\n" + summary + "\n")
    }
}

/// The way in which an example is sent.
private enum SmokeWay {
    case alert
    case silent
    case start(DeviceToken)
    case update(DeviceToken)
    case end(DeviceToken)
    case subscribe(DeviceToken, ChannelID)
    case broadcast(ChannelID, number: Int)

    var name: String {
        switch self {
        case .alert: "alert"
        case .silent: "silent push"
        case .start: "start"
        case .update: "update"
        case .end: "end"
        case .subscribe: "start with channel"
        case .broadcast: "broadcast"
        }
    }

    /// The verdict with which the phone shows the content, or lets the app show it.
    var expected: PushVerdict.Kind {
        if case .silent = self { .delivered } else { .shown }
    }

    /// The age of the push's timestamp in seconds; nil for a push without one.
    var age: Double? {
        switch self {
        case .alert, .silent: nil
        case .start: 3
        case .update: 2
        case .end: 1
        case .subscribe: 60
        case .broadcast(_, let number): Double(50 - number)
        }
    }

    func destination(_ device: DeviceToken) -> SurfaceDestination {
        switch self {
        case .alert, .silent: .device(device)
        case .start(let token), .subscribe(let token, _): .activityStart(token)
        case .update(let token): .activity(token)
        case .end(let token): .activityEnd(token, dismissal: .default)
        case .broadcast(let channel, _): .channel(channel)
        }
    }
}

/// An example that was sent, with the result of the push.
private struct SmokeRow {
    let example: SurfaceExample
    let way: SmokeWay
    var status: Int?
    var id: APNsID?
    var problem: String?
    var verdict: PushVerdict.Kind?
    var text = ""

    var isExpected: Bool { verdict == way.expected }

    var cells: [Table.Cell] {
        [
            Table.Cell(example.name), Table.Cell(way.name, .faint),
            Table.Cell(status.map(String.init) ?? "-", status == 200 ? .good : .bad), Table.Cell(example.headline),
            Table.Cell(problem ?? text, isExpected ? .plain : .bad),
        ]
    }

    var json: JSONValue {
        .members([
            "example": .string(example.name), "kind": .string(example.snapshot.kind.rawValue),
            "as": .string(way.name), "status": status.map(JSONValue.integer),
            "apns-id": id.map { .string($0.description) }, "content": .string(example.headline),
            "verdict": verdict.map { .string($0.rawValue) }, "text": text.isEmpty ? nil : .string(text),
            "problem": problem.map(JSONValue.string), "shown": .bool(isExpected),
        ])
    }
}

extension SurfaceExample {
    /// The first line of the surface.
    fileprivate var headline: String {
        let content = snapshot.json[snapshot.kind.rawValue]
        let title = content?["title"] ?? content?["label"]
        return title?.stringValue ?? title?["key"]?.stringValue ?? ""
    }
}
