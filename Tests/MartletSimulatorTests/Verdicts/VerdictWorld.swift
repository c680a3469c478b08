// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletServer
import MartletTransport
import Synchronization
import TestSupport
import Testing

@testable import MartletSimulator

/// A time that a test moves.
final class MovableTime: Sendable {
    private let time: Mutex<Int64>

    init(_ seconds: Int64) {
        time = Mutex(seconds)
    }

    var seconds: Int64 { time.withLock(\.self) }

    func advance(by seconds: Int64) {
        time.withLock { $0 += seconds }
    }
}

/// A simulator that receives seeded pushes, and the model that predicts their verdicts.
struct VerdictWorld {
    let apns: SimulatedAPNs
    let base: String
    private(set) var model = ModelPhones()
    private(set) var pinned: Set<Int> = []
    private var random: SplitMix64
    private let time: MovableTime
    /// The newest timestamp of the activity of each token.
    private var timestamps: [String: Int] = [:]

    static let tokens = (1...12).map { "5d3a6a\($0 + 16)" }
    /// The tokens of Live Activities; the others are those of devices.
    private static let activityTokens = Set(tokens[2...3] + tokens[8...])
    /// The beginning of the tokens whose pushes a fault refuses.
    private static let refused = "fa11"

    init(seed: UInt64, file: String) async throws {
        random = SplitMix64(state: seed)
        time = MovableTime(1_790_000_000)
        apns = try await VerdictWorld.start(file, time, seed: seed)
        base = "http://127.0.0.1:\(try #require(await apns.inboxPort))"
    }

    private static func start(_ file: String, _ time: MovableTime, seed: UInt64) async throws -> SimulatedAPNs {
        let match = SimulatedAPNs.Fault.Match(devicePrefix: refused)
        return try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                inboxPort: 0,
                isEncrypted: false,
                storedPushes: 2_000,
                dataFile: file,
                faults: [SimulatedAPNs.Fault(.respond(.tooManyRequests), with: match)],
                seed: seed
            ),
            clock: WallClock { time.seconds }
        )
    }

    /// Starts a simulator with the pushes that the data file of this one has.
    func restarted(_ file: String) async throws -> SimulatedAPNs {
        try await VerdictWorld.start(file, time, seed: 1)
    }

    /// Sends a number of pushes, between which phones go on- and offline, and pushes are pinned and deleted.
    ///
    /// Before the last pushes, all phones that ever go offline do.
    mutating func run(pushes: Int) async throws {
        for number in 1...pushes {
            time.advance(by: .random(in: 0...2, using: &random))
            if number == pushes - 40 { await takePhonesOffline() }
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<12 where number < pushes - 40: await togglePhone()
            case 12..<16: await pin()
            case 16..<18: await forget()
            default: break
            }
            await send()
        }
        model.expire(at: Int(time.seconds))
    }

    private mutating func togglePhone() async {
        let token = VerdictWorld.tokens[Int.random(in: 0..<4, using: &random)]
        let isOffline = !model.isOffline(token)
        guard let device = try? DeviceToken(hex: token) else { return }
        await apns.setOnline(!isOffline, device)
        model.setOffline(isOffline, token, at: Int(time.seconds))
    }

    private mutating func takePhonesOffline() async {
        for token in VerdictWorld.tokens.prefix(4) where !model.isOffline(token) {
            guard let device = try? DeviceToken(hex: token) else { continue }
            await apns.setOnline(false, device)
            model.setOffline(true, token, at: Int(time.seconds))
        }
    }

    private mutating func pin() async {
        guard let push = await apns.pushes.randomElement(using: &random) else { return }
        let isPinned = !push.labels.isPinned
        guard await apns.inbox.label(push.number, tags: isPinned ? ["seen"] : [], isPinned: isPinned) else { return }
        if isPinned { pinned.insert(push.number) } else { pinned.remove(push.number) }
    }

    private mutating func forget() async {
        let last = await apns.pushCount
        guard last > 20 else { return }
        let first = Int.random(in: 1..<last, using: &random)
        guard let query = try? PushQuery("number:\(first)-\(first + 9)") else { return }
        await apns.forgetPushes(matching: query)
        for number in first...first + 9 where !pinned.contains(number) { model.forget(number) }
    }

    private mutating func send() async {
        let now = Int(time.seconds)
        let number = await apns.pushCount + 1
        let isRefused = Int.random(in: 0..<20, using: &random) == 0
        let token =
            isRefused
            ? VerdictWorld.refused + "0001"
            : VerdictWorld.tokens[Int.random(in: 0..<VerdictWorld.tokens.count, using: &random)]
        let expirations: [Int?] = [nil, nil, nil, 0, now - 10, now + 5, now + 60]
        let expiration = expirations[Int.random(in: 0..<expirations.count, using: &random)]
        let (content, headers, payload) = nextContent(for: token)
        var fields: HTTPFields = [":method": "POST", ":path": "/3/device/\(token)"]
        for (name, value) in headers { fields.append(name, value) }
        if let expiration { fields.append("apns-expiration", String(expiration)) }
        let push = await apns.service.receive(composed: APNsRequest(composed: fields, Array(payload.utf8)))
        #expect(push.number == number && push.status == (isRefused ? 429 : 200), "\(push)")
        guard !isRefused else { return model.refuse(number) }
        model.receive(
            ModelPhones.Push(number: number, token: token, content: content, expiration: expiration),
            at: now
        )
        guard Int.random(in: 0..<25, using: &random) == 0 else { return }
        await apns.inbox.loseAnswer(of: number, to: .client)
        model.loseAnswer(of: number)
    }

    /// Returns the content of the next push to a token, with its headers and payload.
    private mutating func nextContent(
        for token: String
    ) -> (ModelPhones.Push.Content, [(String, String)], payload: String) {
        let topic = "com.example.app"
        // An update to the token of a device is a mistake that the phone ignores.
        let choice = Int.random(in: 0..<8, using: &random)
        switch VerdictWorld.activityTokens.contains(token) ? 7 : choice {
        case 0..<5:
            let collapseID = Bool.random(using: &random) ? "order-\(Int.random(in: 0..<3, using: &random))" : nil
            let headers = [("apns-push-type", "alert"), ("apns-topic", topic)]
            let payload = #"{"aps":{"alert":{"title":"A"},"sound":"default","thread-id":"t"}}"#
            let more = collapseID.map { [("apns-collapse-id", $0)] } ?? []
            return (.alert(collapseID: collapseID), headers + more, payload)
        case 5:
            let headers = [("apns-push-type", "background"), ("apns-priority", "5"), ("apns-topic", topic)]
            return (.silent, headers, #"{"aps":{"content-available":1}}"#)
        case 6:
            return (.silent, [("apns-push-type", "alert"), ("apns-topic", topic)], #"{"aps":{"badge":3}}"#)
        default:
            let isEnd = Int.random(in: 0..<12, using: &random) == 0
            let timestamp = timestamps[token, default: 1_789_000_000] + Int.random(in: -3...9, using: &random)
            timestamps[token] = max(timestamp, timestamps[token] ?? 0)
            let event = isEnd ? "end" : "update"
            let payload = #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":{"n":1}}}"#
            let headers = [("apns-push-type", "liveactivity"), ("apns-topic", topic + ".push-type.liveactivity")]
            return (.activity(timestamp: timestamp, isEnd: isEnd), headers, payload)
        }
    }

    /// Returns the JSON at a path of the HTTP interface.
    func json(_ path: String) async throws -> JSONValue {
        try JSONReader.read(Array(try await text(path).utf8))
    }

    /// Returns the text at a path of the HTTP interface.
    func text(_ path: String) async throws -> String {
        try await ProgramRun.curl([base + path]).text
    }
}
