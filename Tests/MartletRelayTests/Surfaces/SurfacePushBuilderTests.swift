// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import OutboxModel
import Testing

@testable import MartletRelay

/// The pushes, the steps, the pages and the budgets of surfaces, without a relay.
@Suite(.timeLimit(.minutes(10))) struct SurfacePushBuilderTests {
    private static let now: Int64 = 1_795_000_000_000
    private static let seconds: Int64 = 1_795_000_000
    private static let bundleID = "com.example.orders"

    private func installation(_ number: UInt64 = 1, bundleID: String = Self.bundleID) -> Installation {
        var generator = SplitMix64(state: number)
        return Installation(
            id: InstallationID(milliseconds: 1, using: &generator),
            app: "orders",
            user: "user \(number)",
            environment: .production,
            bundleID: bundleID,
            at: Self.now
        )
    }

    private func surface(
        _ id: String = "order-7",
        for audience: SurfaceAudience = .users([]),
        withdrawnAt: Int64? = nil
    ) -> StoredSurface {
        let surface = MartletOutbox.Surface(
            app: "orders",
            id: id,
            caller: "back end",
            audience: audience,
            request: SurfaceBench.request("Packed"),
            fingerprint: []
        )
        return StoredSurface(
            number: 1,
            revision: 3,
            surface: surface,
            createdAt: Self.now,
            changedAt: Self.now,
            withdrawnAt: withdrawnAt
        )
    }

    /// Builds a push of a surface to the installation with the number 7.
    private func push(
        _ content: SurfacePlan.Send.Content,
        of kind: SurfaceKind = .liveActivity,
        surface id: String = "order-7",
        notificationRevision: Int64 = 3,
        alertsPerDay: Int? = nil,
        quietHours: QuietHours? = nil,
        to destination: PushRequest.Destination? = nil,
        app bundleID: String = Self.bundleID
    ) throws -> OutboxPush {
        var app = RelayConfiguration.App(name: "orders", bundleIDs: [Self.bundleID], key: try .ephemeral())
        app.alertsPerDay = alertsPerDay
        app.quietHours = quietHours
        let builder = try SurfacePushBuilder(
            surface: surface(id),
            stored: StoredInstallation(number: 7, revision: 1, installation: installation(bundleID: bundleID)),
            attributesType: "OrderAttributes",
            notificationRevision: notificationRevision,
            apps: [app],
            renderers: [Lane(app: "orders", environment: .production): SnapshotRenderer(timeout: .seconds(30))],
            now: Self.now
        )
        let send = SurfacePlan.Send(
            id: APNsID(randomBits: (1, 2)),
            destination: try destination ?? .device(DeviceToken(hex: "ab12")),
            content: content,
            snapshot: SurfaceBench.snapshot(of: kind, "Packed")
        )
        // The push to another token is built first, as in a step of many installations.
        var built = BuiltPushes()
        let other = SurfacePlan.Send(
            id: APNsID(randomBits: (3, 4)),
            destination: try destination ?? .device(DeviceToken(hex: "cd34")),
            content: content,
            snapshot: send.snapshot
        )
        let first = try builder.push(of: other, &built)
        #expect(first.id == other.id && first.destination == other.destination.stored(bundle: bundleID))
        let push = try builder.push(of: send, &built)
        if case .end = content { return push }
        built = BuiltPushes()
        let alone = try builder.push(of: send, &built)
        #expect(push == alone)
        return push
    }

    private func aps(of push: OutboxPush) throws -> JSONValue {
        try #require(try JSONReader.read(push.payload)["aps"])
    }

    // MARK: Pushes

    @Test func `a start has the attributes type and ten minutes`() throws {
        let sent = try push(.start(timestamp: Self.seconds + 1))
        let aps = try aps(of: sent)
        #expect(aps["event"] == "start" && aps["attributes-type"] == "OrderAttributes")
        #expect(aps["timestamp"]?.integerValue == Self.seconds + 1)
        #expect(aps["stale-date"]?.integerValue == Self.seconds + 7_200)
        #expect(sent.headers.priority == "10" && sent.headers.collapseID == "liveActivity order-7")
        #expect(sent.headers.expiration == "\(Self.seconds + 600)" && sent.expiresAt == Self.now + 600_000)
        #expect(sent.user == "user 1" && sent.installation == 7 && !sent.hasCallersID)
        #expect(sent.orderKey == "activity ab12")
    }

    @Test func `an update has the priority and the stale date of its plan`() throws {
        let update = ActivitySession.Update(
            generation: 3,
            timestamp: Self.seconds,
            priority: 5,
            staleDate: Self.seconds + 9
        )
        let sent = try push(.update(update))
        let aps = try aps(of: sent)
        #expect(aps["event"] == "update" && aps["stale-date"]?.integerValue == Self.seconds + 9)
        #expect(sent.headers.priority == "5" && sent.headers.collapseID == nil)
    }

    @Test func `an end removes the card and is stored for twelve hours`() throws {
        let sent = try push(.end(timestamp: Self.seconds))
        let aps = try aps(of: sent)
        #expect(aps["event"] == "end" && aps["dismissal-date"] != nil)
        #expect(sent.headers.expiration == "\(Self.seconds + 43_200)")
    }

    @Test func `a start on a channel names it`() throws {
        let aps = try aps(of: push(.start(timestamp: Self.seconds, channel: .test())))
        #expect(aps["input-push-channel"] == "Y2hhbm5lbA==" && aps["input-push-token"] == nil)
    }

    @Test(arguments: [false, true]) func `a broadcast is for the channel`(storesBroadcasts: Bool) throws {
        let channel = SurfaceChannel.test(storesBroadcasts: storesBroadcasts)
        for isEnd in [false, true] {
            let broadcast = ActivitySession.Broadcast(
                channel: channel,
                age: 0,
                isEnd: isEnd,
                update: ActivitySession.Update(
                    generation: 3,
                    timestamp: Self.seconds,
                    priority: 10,
                    staleDate: Self.seconds + 9
                ),
                sentAt: Self.seconds
            )
            let hours = try QuietHours.test(from: "00:00", to: "23:59")
            let sent = try push(.broadcast(broadcast), quietHours: hours, to: .channel(channel.id))
            #expect(sent.destination == .channel(channel.id, bundle: Self.bundleID))
            #expect(sent.orderKey == "channel com.example.orders Y2hhbm5lbA==")
            #expect(sent.user == nil && sent.installation == nil && sent.notBefore == nil)
            let aps = try aps(of: sent)
            #expect(aps["event"] == (isEnd ? "end" : "update") && aps["timestamp"]?.integerValue == Self.seconds)
            #expect(sent.headers.pushType == "liveactivity" && sent.headers.priority == "10")
            // Longer than APNs stores it, because the next one may be hours away.
            #expect(sent.headers.expiration == (storesBroadcasts ? "\(Self.seconds + 28_800)" : "0"))
            #expect(sent.expiresAt == Self.now + 7_200_000)
        }
    }

    @Test func `a long identifier gives a hash as collapse identifier`() throws {
        let long = String(repeating: "a", count: 100)
        let first = try #require(try push(.background, of: .widget, surface: long).headers.collapseID)
        let second = try #require(try push(.background, of: .widget, surface: long + "b").headers.collapseID)
        #expect(first != second && first.utf8.count <= 64)
        #expect(try push(.background, of: .widget).headers.collapseID == "widget order-7")
    }

    @Test(arguments: ["widgets", "controls"]) func `a push that reloads has no content`(type: String) throws {
        let isWidget = type == "widgets"
        let sent = try push(isWidget ? .widgets : .control, of: .widget)
        #expect(String(decoding: sent.payload, as: UTF8.self) == #"{"aps":{"content-changed":true}}"#)
        #expect(sent.headers.pushType == type && sent.headers.priority == (isWidget ? "5" : "10"))
        #expect(sent.headers.topic == Self.bundleID + ".push-type." + type)
        #expect(sent.headers.collapseID == "widget order-7")
        #expect(sent.headers.expiration == "\(Self.seconds + 86_400)")
    }

    @Test func `only notifications count towards the limit of alerts`() throws {
        let limit = try push(.notification, alertsPerDay: 2).alertLimit
        #expect(limit?.perDay == 2)
        #expect(try push(.notification, alertsPerDay: 2).alertLimit == limit)
        #expect(try push(.notification, notificationRevision: 2, alertsPerDay: 2).alertLimit != limit)
        #expect(try push(.start(timestamp: Self.seconds), alertsPerDay: 2).alertLimit == nil)
    }

    @Test func `a notification waits for the end of the quiet hours`() throws {
        let hours = try QuietHours.test(from: "10:00", to: "14:00")
        let end = try #require(hours.end(at: Self.now, in: nil))
        let sent = try push(.notification, quietHours: hours)
        #expect(sent.notBefore == end && sent.expiresAt == end + 3_600_000)
        let start = try push(.start(timestamp: Self.seconds), quietHours: hours)
        #expect(start.notBefore == nil && start.expiresAt == Self.now + 600_000)
    }

    @Test func `a push to an app that is not configured is refused`() throws {
        #expect(throws: APIProblem.self) { try push(.notification, app: "com.example.other") }
    }

    // MARK: Steps

    /// Returns the sessions of the surface, which has revision 3, on phones with a card on a channel.
    private func sessions(on channel: SurfaceChannel, of phones: ClosedRange<Int64>) throws -> [DueSession] {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        var surface = surface()
        surface.surface.request = SurfaceContent.activity(3, isUrgent: true, on: channel).stored
        return phones.map { number in
            DueSession(
                session: StoredSession(
                    number: number,
                    surface: 1,
                    installation: number,
                    revision: 3,
                    state: bench.state.stored,
                    dueAt: 0
                ),
                surface: surface,
                installation: StoredInstallation(number: number, revision: 1, installation: bench.stored.installation)
            )
        }
    }

    @Test func `one of many sessions sends a broadcast`() async throws {
        let app = RelayConfiguration.App(name: "orders", bundleIDs: [Self.bundleID], key: try .ephemeral())
        let lane = Lane(app: "orders", environment: .production)
        let now: Int64 = 1_800_000_100_000
        var broadcasts: [Int64: SentBroadcasts] = [:]
        var (counts, pushes): ([Int], [[OutboxPush]]) = ([], [])
        for _ in 0..<2 {
            let built = await SurfaceStepBuilder.steps(
                of: try sessions(on: .test(), of: 1...6),
                apps: [app],
                renderers: [lane: SnapshotRenderer(timeout: .seconds(30))],
                budgets: [:],
                broadcasts: broadcasts,
                generator: SplitMix64(state: 1),
                at: now
            )
            #expect(built.steps.allSatisfy { $0.problems.isEmpty && !$0.step.isFinished })
            broadcasts = built.broadcasts
            counts.append(built.steps.count)
            pushes.append(built.steps.flatMap { $0.step.pushes.map(\.push) })
        }
        // Two tasks build the steps, and the outbox stores one of two pushes with the same identifier. The other
        // sessions wait until it is stored.
        #expect(counts == [2, 6] && pushes.map(\.count) == [2, 0])
        #expect(Set(pushes[0].map(\.id)).count == 1)
        #expect(broadcasts[1]?.timestamp == now / 1_000)
    }

    /// Returns the step of the surface, which has revision 3, on an installation with a start token.
    private func step(revision: Int64, bundleID: String = Self.bundleID) async throws -> SurfaceSteps.Step {
        var phone = installation()
        let token = Installation.RegisteredToken(try DeviceToken(hex: "ab12"), registeredAt: Self.now)
        phone.tokens[Installation.TokenSlot(.start, "SurfaceActivityAttributes")] = token
        let due = DueSession(
            session: StoredSession(number: 1, surface: 1, installation: 7, revision: revision, dueAt: 0),
            surface: surface(),
            installation: StoredInstallation(number: 7, revision: 1, installation: phone)
        )
        let app = RelayConfiguration.App(name: "orders", bundleIDs: [bundleID], key: try .ephemeral())
        let built = await SurfaceStepBuilder.steps(
            of: [due],
            apps: [app],
            renderers: [Lane(app: "orders", environment: .production): SnapshotRenderer(timeout: .seconds(30))],
            budgets: [:],
            generator: SplitMix64(state: 1),
            at: Self.now
        )
        return try #require(built.steps.first)
    }

    @Test func `a step waits for the page of a changed audience`() async throws {
        let early = try await step(revision: 2)
        #expect(early.step.pushes.isEmpty && early.problems.isEmpty && !early.step.isFinished)
        #expect(early.step.dueAt == Self.now + 600_000)
        let current = try await step(revision: 3)
        #expect(current.step.pushes.count == 1 && current.problems.isEmpty)
    }

    @Test func `the steps of a round have the order of the sessions`() async throws {
        let app = RelayConfiguration.App(name: "orders", bundleIDs: [Self.bundleID], key: try .ephemeral())
        var due: [DueSession] = []
        for (number, phone) in [4, 7, 7, 2, 9, 4, 1].enumerated() {
            let installation = installation(UInt64(phone))
            due.append(
                DueSession(
                    session: StoredSession(number: Int64(number), surface: 1, installation: 7, revision: 3, dueAt: 0),
                    surface: surface(),
                    installation: StoredInstallation(number: Int64(phone), revision: 1, installation: installation)
                )
            )
        }
        let known = InstallationBudget(of: installation(), at: Self.seconds)
        let built = await SurfaceStepBuilder.steps(
            of: due,
            apps: [app],
            renderers: [Lane(app: "orders", environment: .production): SnapshotRenderer(timeout: .seconds(30))],
            budgets: [4: known, 7: known],
            generator: SplitMix64(state: 1),
            at: Self.now
        )
        #expect(built.steps.map(\.step.session) == Array(0..<7))
        #expect(Set(built.budgets.keys) == [1, 2, 4, 7, 9])
    }

    @Test func `nothing is decided while the app is not configured`() async throws {
        for revision: Int64 in [0, 3] {
            let waiting = try await step(revision: revision, bundleID: "com.example.other")
            #expect(waiting.step.pushes.isEmpty && waiting.problems.count == 1 && !waiting.step.isFinished)
            #expect(waiting.step.dueAt == Self.now + 600_000)
        }
    }

    // MARK: Pages

    @Test func `a page of users has their installations`() async throws {
        let outbox = ModelOutbox(on: ModelOutbox.Disk(), limit: 10)
        let store = outbox.installations
        var installations: [Installation] = []
        for number: UInt64 in 1...3 {
            var new = installation(number)
            let token = try DeviceToken(hex: "ab0\(number)")
            new.tokens[Installation.TokenSlot(.device)] = Installation.RegisteredToken(token, registeredAt: Self.now)
            installations.append(new)
        }
        #expect(try await store.importPage(installations, of: "orders", at: Self.now) == [.added, .added, .added])
        let numbers = try await store.installations(of: "orders", .all, after: 0, limit: 9).map(\.number)
        let users = ["user 1", "user 3", "user 1"]
        let page = try await surface(for: .users(users)).nextPage(from: store)
        #expect(page.installations == [numbers[0], numbers[2]] && page.next == nil && page.revision == 3)
        let named = try await surface(for: .installation(installations[1].id)).nextPage(from: store)
        #expect(named.installations == [numbers[1]])
        let all = try await surface(for: .matching(.all)).nextPage(from: store)
        #expect(all.installations == numbers && all.next == nil)
        let withdrawn = try await surface(for: .matching(.all), withdrawnAt: Self.now).nextPage(from: store)
        #expect(withdrawn.installations.isEmpty && withdrawn.next == nil)
    }

    // MARK: Budgets

    @Test func `the budgets that were used longest ago are dropped`() {
        var budgets = RecentValues<InstallationBudget>(limit: 2)
        let budget = InstallationBudget(of: installation(), at: Self.seconds)
        for number: Int64 in 1...5 { budgets.store([number: budget]) }
        let known = (1...5).filter { budgets[$0] != nil }
        #expect(known == [3, 4, 5])
    }

    @Test func `the permission of frequent updates enlarges the budget`() {
        var phone = installation()
        var budget = InstallationBudget(of: phone, at: Self.seconds)
        while budget.activities.takeUpdate(at: Self.seconds) {}
        budget.update(for: phone, at: Self.seconds)
        let isSpent = !budget.activities.takeUpdate(at: Self.seconds)
        #expect(isSpent)
        phone.permissions[.frequentUpdates] = true
        budget.update(for: phone, at: Self.seconds)
        let hasMore = budget.activities.takeUpdate(at: Self.seconds)
        #expect(hasMore)
    }
}
