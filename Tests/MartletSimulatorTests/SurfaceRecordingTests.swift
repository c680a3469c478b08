// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import Testing

/// Comparison with a recording of the requests of `@mobile-surfaces/push`, which is beside the project.
@Suite(.timeLimit(.minutes(10))) struct SurfaceRecordingTests {
    /// A request of the package.
    struct Send: Sendable, CustomTestStringConvertible {
        let json: JSONValue

        var operation: String { json["operation"]?.stringValue ?? "" }
        var fixture: String { json["fixture"]?.stringValue ?? "" }
        var options: JSONValue { json["options"] ?? .null }
        var body: String { json["body"]?.stringValue ?? "" }
        /// The body that the client sends: the package's without a dismissal date before the end, which iOS ignores.
        var expectedBody: String {
            guard operation != "end", let date = options["dismissalDateSeconds"]?.integerValue else { return body }
            return body.replacing(",\"dismissal-date\":\(date)", with: "")
        }
        /// Whether the call had only the required arguments; a start always has the alert that it needs.
        var isPlain: Bool { (options.members ?? []).allSatisfy { $0.name == "alert" } }

        var testDescription: String { "\(operation) of \(fixture)\(isPlain ? "" : " with options")" }

        func date(_ name: String) -> Date? {
            options[name]?.integerValue.map(Date.init(secondsSince1970:))
        }

        var dismissal: LiveActivityUpdate.Dismissal {
            date("dismissalDateSeconds").map(LiveActivityUpdate.Dismissal.at) ?? .immediate
        }

        /// The alert that a caller of `start` passes.
        var alert: LiveActivityAlert? {
            guard let alert = options["alert"] else { return nil }
            return LiveActivityAlert(
                title: .plain(alert["title"]?.stringValue ?? ""),
                body: .plain(alert["body"]?.stringValue ?? ""),
                sound: nil
            )
        }

        func number(_ name: String) -> Double? {
            if case .number(let number)? = options[name] { number.doubleValue } else { nil }
        }
    }

    private static let folder = "../shared/surfaces"
    private static let recording: JSONValue? = {
        let file = URL(filePath: SurfaceRecordingTests.folder + "/original-sends/sends.json")
        return (try? Data(contentsOf: file)).flatMap { try? JSONReader.read(Array($0)) }
    }()
    private static let sends = (recording?["sends"]?.elements ?? []).map(Send.init)
    private static let absence = Comment(rawValue: "the recording of requests is not at \(folder)/original-sends")

    private static func destination(of send: Send) throws -> SurfaceDestination {
        let token = try DeviceToken(hex: recording?["deviceToken"]?.stringValue ?? "")
        let channel = ChannelID(recording?["channel"]?.stringValue ?? "")
        return switch send.operation {
        case "update": .activity(token)
        case "start": .activityStart(token)
        case "end": .activityEnd(token, dismissal: send.dismissal)
        case "broadcast": .channel(channel)
        default: .device(token)
        }
    }

    private static func delivery(of send: Send) throws -> SurfaceDelivery {
        let priorities: [Int64: LiveActivityPriority] = [10: .immediate, 5: .powerAware]
        var expiration = send.date("expirationSeconds").map(PushNotification.Expiration.at)
        if send.options["expirationSeconds"] == 0 { expiration = .attemptOnce }
        // The package stores broadcasts for an hour if the channel stores them; the client asks for a time.
        if expiration == nil, send.options["storagePolicy"] == "most-recent-message" {
            expiration = .at(Date(secondsSince1970: time + 3_600))
        }
        return SurfaceDelivery(
            priority: send.options["priority"]?.integerValue.flatMap { priorities[$0] },
            expiration: expiration,
            collapseID: try send.options["collapseId"]?.stringValue.map { try CollapseID($0) },
            // Without a timestamp, the client stamps a start earlier and an end later than an update.
            timestamp: Date(secondsSince1970: time),
            staleDate: send.date("staleDateSeconds"),
            relevanceScore: send.number("relevanceScore"),
            // The recorded alerts have the texts of the snapshots, so half of the starts need none of the caller.
            alert: send.isPlain ? nil : send.alert,
            attributesType: send.options["attributesType"]?.stringValue ?? SurfaceActivityAttributes.attributesType,
            compatibility: send.isPlain ? .mobileSurfaces : .mobileSurfaces.union(.startWithoutAlert),
            id: try APNsID(send.json["headers"]?["apns-id"]?.stringValue ?? "")
        )
    }

    private static let time = recording?["time"]?.integerValue ?? 0

    /// The request of the client for the same call, at the time of the recording.
    private func request(for send: Send) async throws -> RequestDescription {
        let bytes = try Data(contentsOf: URL(filePath: Self.folder + "/" + send.fixture))
        let client = try PushClient(
            .development,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(),
            clock: WallClock { Self.time }
        )
        let request = try client.describe(
            try SurfaceSnapshot(parsing: Array(bytes)),
            to: try Self.destination(of: send),
            topic: Topic(Self.recording?["topic"]?.stringValue ?? ""),
            delivery: try Self.delivery(of: send)
        )
        await client.close()
        return request
    }

    @Test(.enabled(if: recording != nil, absence), arguments: sends)
    func `a request in compatibility mode equals the package's request`(send: Send) async throws {
        let request = try await request(for: send)
        #expect(String(decoding: request.body, as: UTF8.self) == send.expectedBody)
        // APNs does not read content-type, and the identifier of a broadcast is apns-request-id.
        let unequal = [":scheme", ":authority", "content-type"]
        var wanted: [String: String] = [:]
        for member in send.json["headers"]?.members ?? [] where !unequal.contains(member.name) {
            let isIdentifier = send.operation == "broadcast" && member.name == "apns-id"
            wanted[isIdentifier ? "apns-request-id" : member.name] = member.value.stringValue
        }
        let found = request.fields.filter { !unequal.contains($0.name) }.map { ($0.name, $0.value) }
        #expect(Dictionary(found) { $1 } == wanted)
    }

    @Test(.enabled(if: recording != nil, absence))
    func `only a dismissal date before the end differs`() {
        let different = Self.sends.filter { $0.expectedBody != $0.body }.map(\.testDescription)
        #expect(Set(different) == Set(["update", "start", "broadcast"].map { "\($0) of paused.json with options" }))
    }

    @Test(.enabled(if: recording != nil, absence))
    func `the recording has every operation for every fixture of its kind`() throws {
        let plain = Self.sends.filter(\.isPlain)
        let counts = Dictionary(grouping: plain, by: \.operation).mapValues(\.count)
        let activities = ["alert": 8, "update": 8, "start": 8, "end": 8, "broadcast": 8]
        #expect(counts == activities.merging(["sendNotification": 8]) { $1 })
        #expect(Set(Self.sends.map(\.testDescription)).count == Self.sends.count)
    }
}
