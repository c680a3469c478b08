// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletSimulator
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Phones whose apps report to relays with ``LiveSurfaces/InstallationClient``, and the simulator whose pushes they
/// get.
actor Phones {
    /// A phone with the client in its app.
    private struct Phone {
        let user: String
        var system: SimulatedPhone
        let client: InstallationClient
        /// The reports of the app, in their order.
        let reports: AsyncStream<SimulatedPhone.Report.Content>.Continuation
    }

    /// A command that the program does not know, or that lacks a member.
    struct WrongCommand: Error, CustomStringConvertible {
        let command: JSONValue

        var description: String { "wrong command: \(String(decoding: command.encoded(), as: UTF8.self))" }
    }

    private static let app = SimulatedPhone.App(topic: "com.example.orders")
    /// The delay of the answers of APNs, so that pushes are on their way when a relay is killed.
    private static let delay = SimulatedAPNs.Fault(.delay(.milliseconds(5), jitter: .milliseconds(100)))
    /// The interval between looks for what phones do by themselves.
    private static let tick = Duration.milliseconds(100)

    private let apple: SimulatedAPNs
    private let loop: EventLoop
    private var phones: [Phone] = []
    /// The indices of phones by the tokens that their apps have reported.
    private var owners: [DeviceToken: Int] = [:]

    init() async throws {
        loop = try EventLoop()
        apple = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                isEncrypted: false,
                environment: .production,
                storedPushes: 1_000_000,
                faults: [Phones.delay],
                // The tokens are random.
                usesTokenSuffixes: false
            )
        )
    }

    /// Starts to deliver pushes, and to let time pass on the phones; returns the port of the simulator.
    func start() async -> UInt16 {
        let arrivals = await apple.arrivals()
        Task { await deliver(arrivals) }
        Task { await passTime() }
        return await apple.port
    }

    /// Performs a command and returns the answer.
    ///
    /// - Parameter command: The name of the command in `do`, and its values.
    /// - Returns: An object.
    /// - Throws: ``WrongCommand``.
    func perform(_ command: JSONValue) async throws -> JSONValue {
        switch command["do"]?.stringValue {
        case "enroll": try await enroll(command)
        case "handle": for index in try indices(in: command) { try handle(command, on: index) }
        case "expect":
            guard let surface = command["surface"]?.stringValue else { throw WrongCommand(command: command) }
            let content = command["content"].flatMap { $0 == .null ? nil : $0 }
            for index in try indices(in: command) {
                phones[index].system.expect(surface, content, since: Date())
                takeReports(of: index)
            }
        case "show":
            let shown = await show()
            return ["phones": .array(shown)]
        default: throw WrongCommand(command: command)
        }
        return [:]
    }

    // MARK: Commands

    /// Lets the apps of new phones enroll.
    private func enroll(_ command: JSONValue) async throws {
        let ports = command["relays"]?.elements?.compactMap { $0.integerValue.flatMap { UInt16(exactly: $0) } } ?? []
        guard !ports.isEmpty, let key = command["key"]?.stringValue, let owners = command["owners"]?.elements else {
            throw WrongCommand(command: command)
        }
        let relays = Relays(ports: ports, key: key, loop: loop)
        for owner in owners {
            guard let user = owner["user"]?.stringValue else { throw WrongCommand(command: command) }
            let tags = owner["tags"] ?? []
            let client = InstallationClient(
                environment: .production,
                bundleID: Phones.app.topic.rawValue,
                storage: MemoryStorage(),
                gathering: .milliseconds(20),
                ticket: { user in try await relays.ticket(["user": .string(user), "tags": tags]) },
                send: { request in try await relays.send(request) }
            )
            await client.signIn(user)
            var behavior = SimulatedPhone.Behavior.reliable
            if let version = owner["system-version"]?.stringValue { behavior.systemVersion = version }
            add(user, client, behavior, allowsLiveActivities: owner["live-activities"] != JSONValue.bool(false))
        }
    }

    /// Adds a phone whose user installs the app, opens it, and leaves it.
    private func add(
        _ user: String,
        _ client: InstallationClient,
        _ behavior: SimulatedPhone.Behavior,
        allowsLiveActivities: Bool
    ) {
        let (reports, continuation) = AsyncStream.makeStream(of: SimulatedPhone.Report.Content.self)
        Task { for await report in reports { await client.report(report, of: Phones.app.attributesType) } }
        let system = SimulatedPhone(
            app: Phones.app,
            permissions: SimulatedPhone.Permissions(liveActivities: allowsLiveActivities),
            behavior: behavior,
            seed: UInt64(phones.count),
            at: Date()
        )
        phones.append(Phone(user: user, system: system, client: client, reports: continuation))
        let index = phones.count - 1
        for event: SimulatedPhone.Event in [.install, .launch, .leave] {
            phones[index].system.handle(event, at: Date())
        }
        takeReports(of: index)
    }

    private func handle(_ command: JSONValue, on index: Int) throws {
        let event: SimulatedPhone.Event
        switch command["event"]?.stringValue {
        case "offline": event = .setOnline(false)
        case "online": event = .setOnline(true)
        case "swipe":
            guard let card = phones[index].system.cards.first else { throw WrongCommand(command: command) }
            event = .swipe(card.id)
        default: throw WrongCommand(command: command)
        }
        phones[index].system.handle(event, at: Date())
        takeReports(of: index)
    }

    /// Returns the indices of the phones that a command is for.
    private func indices(in command: JSONValue) throws -> [Int] {
        guard let elements = command["phones"]?.elements else { throw WrongCommand(command: command) }
        return try elements.map { element in
            guard let index = element.integerValue.flatMap({ Int(exactly: $0) }), phones.indices.contains(index) else {
                throw WrongCommand(command: command)
            }
            return index
        }
    }

    /// Returns what each phone shows, with the titles of its notifications, newest last, and its account.
    private func show() async -> [JSONValue] {
        let now = Date()
        var shown: [JSONValue] = []
        for index in phones.indices {
            phones[index].system.advance(to: now)
            takeReports(of: index)
            let isSettled = await phones[index].client.isSettled
            let titles = phones[index].system.notifications.compactMap { $0["aps"]?["alert"]?["title"]?.stringValue }
            shown.append(
                .members([
                    "user": .string(phones[index].user), "settled": .bool(isSettled),
                    "cards": .array(phones[index].system.cards.filter { $0.state != .ended }.map(\.json)),
                    "notifications": .strings(titles),
                    "account": phones[index].system.account.json,
                ])
            )
        }
        return shown
    }

    // MARK: Time and pushes

    /// Delivers each push that the simulator accepts.
    private func deliver(_ pushes: AsyncStream<ReceivedPush>) async {
        for await push in pushes where push.status == 200 {
            if let channel = push.channel {
                for index in phones.indices {
                    phones[index].system.receive(push.payload, headers: push.headers, on: channel, at: Date())
                    takeReports(of: index)
                }
                continue
            }
            guard let token = push.token, let index = owners[token] else { continue }
            let answer = phones[index].system.receive(push.payload, headers: push.headers, to: token, at: Date())
            takeReports(of: index)
            // The answer to the next push.
            if case .unregistered(let date) = answer { await apple.unregister(token, since: date) }
        }
    }

    private func passTime() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Phones.tick)
            let now = Date()
            for index in phones.indices {
                guard let next = phones[index].system.nextDate, next <= now else { continue }
                phones[index].system.advance(to: now)
                takeReports(of: index)
            }
        }
    }

    /// Passes the reports of a phone to the client in its app.
    private func takeReports(of index: Int) {
        for report in phones[index].system.takeReports() {
            for token in report.content.tokens { owners[token] = index }
            phones[index].reports.yield(report.content)
        }
    }
}
