// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the decision which problems a relay has, and of their texts.
@Suite struct StatusSummaryTests {
    /// 2026-11-25 12:41:00 UTC.
    static let now: Int64 = 1_795_610_460_000
    static let minute: Int64 = 60_000

    static func lane(_ app: String, _ environment: PushEnvironment = .production) -> LaneFacts {
        let lane = Lane(app: app, environment: environment)
        var facts = LaneFacts(lane: lane)
        facts.counts.recentAttempts = 10
        facts.backlog = Backlog(lane: lane, count: 0, oldest: nil)
        facts.keyID = "ABC123DEFG"
        return facts
    }

    static func problem(_ reason: String, minutes: Int64 = 3) -> LaneProblem {
        LaneProblem(since: now - minutes * minute, reason: reason, nextTry: nil)
    }

    static var threeLanes: StatusFacts {
        let lanes = ["orders", "rides", "wallet"].map { StatusSummaryTests.lane($0) }
        return StatusFacts(now: StatusSummaryTests.now, apps: lanes.map(\.lane.app), lanes: lanes)
    }

    private var facts: StatusFacts { StatusSummaryTests.threeLanes }

    @Test func `a relay without problems has a headline and no incidents`() {
        #expect(StatusSummary(facts).headline == "All 3 apps deliver. No push waits.")
        #expect(StatusSummary(facts).incidents.isEmpty)
        var some = facts
        some.lanes[1].backlog?.count = 12_345
        #expect(StatusSummary(some).headline == "All 3 apps deliver. 12,345 pushes wait.")
        some.lanes[1].backlog?.count = 1
        #expect(StatusSummary(some).headline == "All 3 apps deliver. 1 push waits.")
        some.lanes[1].backlog = nil
        #expect(StatusSummary(some).headline == "All 3 apps deliver.", "the outbox cannot be read")
        some.lanes = [Self.lane("orders")]
        some.apps = ["orders"]
        #expect(StatusSummary(some).headline == "orders delivers. No push waits.")
    }

    @Test func `a lane without traffic delivers nothing, and one whose attempts all fail is a problem`() throws {
        var facts = facts
        for index in facts.lanes.indices { facts.lanes[index].counts.recentAttempts = 0 }
        #expect(StatusSummary(facts).headline == "All 3 apps are ready. No push waits.")
        facts.lanes[1].counts.recentAttempts = 1
        #expect(StatusSummary(facts).headline == "rides delivers, orders and wallet are ready. No push waits.")
        facts.lanes[2].counts.recentAttempts = 9
        facts.lanes[2].counts.recentFailures = 9
        #expect(StatusSummary(facts).headline == "rides delivers, orders and wallet are ready. No push waits.")
        facts.lanes[2].backlog?.retrying = 1
        #expect(StatusSummary(facts).headline.hasPrefix("Apple accepts no push of wallet."))
        facts.lanes[2].counts.recentAttempts = 1
        facts.lanes[2].counts.recentFailures = 1
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.retrying], "one attempt shows nothing about the lane")
        facts.lanes[2].counts.recentAttempts = 240
        facts.lanes[2].counts.recentFailures = 240
        facts.lanes[2].backlog?.count = 12
        facts.lanes[2].backlog?.retrying = 12
        facts.lanes[2].failing = DispatchCounts.Failing(since: Self.now - 90_000, reason: "429 TooManyRequests")
        let summary = StatusSummary(facts)
        let incident = try #require(summary.incidents.first)
        #expect(summary.incidents.count == 1 && incident.severity == .warning && incident.kind == .fails)
        #expect(
            incident.text(at: Self.now)
                == "Apple accepts no push of wallet since 12:39 UTC (1 min). None of the 240 attempts of the last"
                + " minute succeeded. 12 pushes wait. Look up Apple's reason in the runbook. (429 TooManyRequests)"
        )
        facts.lanes[2].problem = Self.problem("ConnectionFailed")
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.appleUnreachable])
    }

    @Test func `an outage of Apple names the apps, the time, the waiting pushes and what to do`() throws {
        var facts = facts
        facts.lanes[0].problem = Self.problem("ConnectionFailed")
        facts.lanes[0].backlog?.count = 8_000
        facts.lanes[1].problem = Self.problem("TimedOut", minutes: 2)
        facts.lanes[1].backlog?.count = 788
        let summary = StatusSummary(facts)
        #expect(summary.headline == "Apple cannot be reached for orders and rides since 12:38 UTC (3 min).")
        let incident = try #require(summary.incidents.first)
        let numbers = " 8,788 pushes wait, none is lost. Nothing to do unless it lasts 10 min or pushes expire."
        #expect(incident.text(at: Self.now) == "\(summary.headline)\(numbers) (ConnectionFailed, TimedOut)")
        #expect(summary.incidents.count == 1 && incident.severity == .critical)
        #expect(incident.kind == .appleUnreachable && incident.apps == ["orders", "rides"])
        #expect(incident.since == Self.now - 3 * Self.minute && incident.waiting == 8_788 && incident.lost == 0)
        let json = incident.json(at: facts.now)
        #expect(json["scope"] == ["apps": ["orders", "rides"], "environments": ["production"]])
        #expect(json["detail"] == "ConnectionFailed, TimedOut" && json["runbook"] == "MartletRelayLaneDown")
        facts.lanes[0].losses.expired = 12
        facts.lanes[0].doctor = "martlet doctor --environment production --topic com.example.orders"
        #expect(StatusSummary(facts).incidents.first?.action.contains("\(facts.lanes[0].doctor), where") == true)
        let lasting = StatusSummary(facts)
        let losses = "8,788 pushes wait; 12 pushes have expired. Test the connection"
        #expect(lasting.incidents.first?.text(at: Self.now).contains(losses) == true)
        var development = facts.lanes[0]
        development.lane.environment = .development
        development.doctor = "martlet doctor --environment development"
        facts.lanes.insert(development, at: 0)
        #expect(StatusSummary(facts).incidents.first?.action.contains("\(facts.lanes[1].doctor), where") == true)
    }

    @Test func `a lane beside others of its app is named with its environment`() {
        var facts = facts
        facts.lanes.append(Self.lane("orders", .development))
        facts.lanes[3].problem = Self.problem("NameNotResolved")
        facts.lanes[3].backlog?.count = 1
        #expect(StatusSummary(facts).headline.hasPrefix("Apple cannot be reached for orders (development) since"))
        facts.lanes.append(Self.lane("rides", .development))
        facts.lanes[4].problem = Self.problem("NameNotResolved")
        facts.lanes[4].backlog?.count = 1
        let title = StatusSummary(facts).incidents.first?.title
        #expect(title == "Apple cannot be reached for orders and rides in development")
        facts.lanes[2].problem = Self.problem("NameNotResolved")
        facts.lanes[2].backlog?.count = 1
        let names = "orders (development), rides (development) and wallet"
        #expect(StatusSummary(facts).incidents.first?.title == "Apple cannot be reached for \(names)")
    }

    @Test(arguments: [
        "ConnectionFailed", "ConnectionLost", "CertificateRejected", "NoAnswer", "BadDeviceToken",
        "InvalidProviderToken", "ServiceUnavailable", "Other",
    ])
    func `the headline of a problem of several apps is short`(reason: String) {
        var facts = facts
        facts.lanes += ["orders", "rides"].map { Self.lane($0, .development) }
        for index in 0..<2 {
            facts.lanes[index].problem = Self.problem(reason)
            facts.lanes[index].backlog?.count = 12_345
            facts.lanes[index].losses.expired = 67
            facts.lanes[index].keyID = "ABC123DEF\(index)"
        }
        let headline = StatusSummary(facts).headline
        #expect(headline.count <= 90 && headline.contains("orders and rides in production since"), "\(headline)")
    }

    @Test(arguments: [
        ("ConnectionFailed", Incident.Kind.appleUnreachable), ("ConnectionLost", .connectionsReset),
        ("CertificateRejected", .tlsIntercepted), ("NoAnswer", .appleSilent), ("BadDeviceToken", .tokensRefused),
        ("InvalidProviderToken", .keyRefused), ("TooManyProviderTokenUpdates", .keyRefused),
        ("ServiceUnavailable", .appleErrors), ("Status 503", .appleErrors), ("Other", .laneDown),
    ])
    func `the reason of a lane decides about the kind`(reason: String, kind: Incident.Kind) throws {
        var facts = facts
        facts.lanes[2].problem = Self.problem(reason)
        facts.lanes[2].backlog?.count = 1
        let incident = try #require(StatusSummary(facts).incidents.first)
        #expect(incident.kind == kind && incident.title.hasSuffix("wallet") && incident.apps == ["wallet"])
        #expect(incident.detail == reason && incident.text(at: Self.now).contains("since 12:38 UTC (3 min)"))
    }

    @Test(arguments: [
        (OutboxError.Kind.full, false, Incident.Kind.diskFull, "The disk is full"),
        (.unreachable, true, .databaseAway, "The database does not answer"),
        (.unavailable, true, .databaseAway, "The database stores no pushes"),
        (.unavailable, false, .notStoring, "The relay cannot store pushes"),
        (.denied, true, .notStoring, "The relay lacks a right in the database"),
        (.damaged, false, .dataDamaged, "The stored data is damaged"),
    ])
    func `an outbox that stores nothing is critical`(
        error: OutboxError.Kind,
        isDatabase: Bool,
        kind: Incident.Kind,
        title: String
    ) throws {
        var facts = facts
        facts.isDatabase = isDatabase
        facts.store = StatusFacts.StoreProblem(
            kind: error,
            error: "no room",
            since: Self.now - 90_000,
            action: "free space"
        )
        for index in facts.lanes.indices { facts.lanes[index].backlog = nil }
        let incident = try #require(StatusSummary(facts).incidents.first)
        #expect(incident.kind == kind && incident.severity == .critical && incident.title == title)
        #expect(incident.apps == ["orders", "rides", "wallet"] && incident.action == "Free space.")
        #expect(incident.effect.contains("503") && incident.lost == nil, "expired pushes cannot be counted")
        #expect(incident.text(at: Self.now).hasSuffix("Free space. (no room)"))
    }

    @Test(arguments: [
        (
            LossCounts(expired: 14, abandoned: 2, refused: 203),
            "5 pushes wait; 14 pushes have expired, 2 pushes were abandoned, 203 pushes were refused."
        ),
        (LossCounts(refused: 1), "5 pushes wait; 1 push was refused."),
        (LossCounts(expired: 1), "5 pushes wait; 1 push has expired."),
        (LossCounts(abandoned: 1), "5 pushes wait; 1 push was abandoned."),
        (LossCounts(), "5 pushes wait, none is lost."),
    ])
    func `the losses of an outage are named by their ends`(losses: LossCounts, effect: String) throws {
        var facts = facts
        facts.lanes[0].problem = Self.problem("BadDeviceToken")
        facts.lanes[0].backlog?.count = 5
        facts.lanes[0].losses = losses
        let incident = try #require(StatusSummary(facts).incidents.first)
        #expect(incident.effect == effect && incident.lost == losses.total)
        #expect(
            incident.action.hasSuffix(
                "Purging the lane cancels everything that waits in it (5 pushes), also pushes to valid tokens."
            )
        )
    }

    @Test func `keys that Apple refuses are named`() {
        var facts = facts
        for index in 0..<2 {
            facts.lanes[index].problem = Self.problem("InvalidProviderToken")
            facts.lanes[index].backlog?.count = 1
        }
        #expect(StatusSummary(facts).headline.hasPrefix("Apple refuses the key ABC123DEFG of orders and rides since"))
        facts.lanes[1].keyID = "ABC123DEFH"
        let incident = StatusSummary(facts).incidents.first
        #expect(incident?.title == "Apple refuses 2 keys of orders and rides")
        #expect(incident?.effect.hasSuffix(" The keys are ABC123DEFG and ABC123DEFH.") == true)
    }

    @Test func `a lane that is not tried because of the storage is not said to be down`() throws {
        var facts = facts
        facts.lanes[0].backlog?.count = 8
        facts.lanes[0].problem = Self.problem("ConnectionFailed")
        facts.lanes[0].problem?.lastTry = Self.now - 39_000
        func incident() throws -> Incident {
            try #require(StatusSummary(facts).incidents.first { $0.kind == .appleUnreachable })
        }
        #expect(try incident().title == "Apple cannot be reached for orders")
        facts.store = StatusFacts.StoreProblem(kind: .full, error: "no room", since: Self.now - 60_000, action: "free")
        let untested = try incident()
        #expect(untested.title == "Nothing is delivered for orders")
        #expect(
            untested.effect == "Last tried 39 s ago; not tried since, because the disk is full. 8 pushes wait."
        )
        #expect(untested.action.hasPrefix("Remove the problem of the storage first"))
        facts.lanes[0].inFlight = 1
        #expect(try incident().title == "Apple cannot be reached for orders", "an attempt is under way")
        facts.lanes[0].inFlight = 0
        facts.lanes[0].problem?.nextTry = Self.now + 1_000
        #expect(try incident().title == "Apple cannot be reached for orders", "the next attempt is not due")
    }

    @Test(arguments: [
        (0, false, "New pushes are refused with 503"), (1_312, false, "New pushes are refused with 503, 1,312 so far"),
        (2, true, "New pushes are refused with 503, 2 by this relay so far"),
    ])
    func `pushes that are refused because of the storage are counted`(count: Int, isDatabase: Bool, effect: String) {
        var facts = facts
        facts.isDatabase = isDatabase
        facts.commitSince = Self.now - 4_000
        facts.notStored = count
        let stored = "; accepted pushes are stored, and those that expire are counted afterwards."
        #expect(StatusSummary(facts).incidents.first?.effect == effect + stored)
    }

    @Test func `a slow commit and a full queue are problems before the outbox reports an error`() {
        var facts = facts
        facts.commitSince = Self.now - 4_000
        #expect(StatusSummary(facts).headline.hasPrefix("The disk does not answer since 12:40 UTC (4 s)."))
        facts.isDatabase = true
        #expect(StatusSummary(facts).headline.hasPrefix("The database does not answer since 12:40 UTC (4 s)."))
        facts.commitSince = nil
        facts.isFull = true
        #expect(StatusSummary(facts).headline.hasPrefix("As many pushes wait as the setting limit allows."))
        facts.fullQueue = FullQueue.Period(since: Self.now - 9_000, last: Self.now, refused: ["news": 1_312, "a": 2])
        let full = StatusSummary(facts).incidents.first
        #expect(full?.since == Self.now - 9_000)
        #expect(
            full?.effect == "New pushes are refused with 503, 1,314 so far, most of them from news; accepted pushes are"
                + " stored."
        )
    }

    @Test func `no relay delivers for a missing one while none can store`() throws {
        var facts = facts
        facts.isDatabase = true
        facts.missingRelays = [FleetView.MissingNode(number: 3, name: "b", since: Self.now - 6_000)]
        let delivers = try #require(StatusSummary(facts).incidents.first { $0.kind == .relayMissing })
        let pushes = "its pushes; those in flight are sent again."
        #expect(delivers.effect == "Its last heartbeat was 6 s ago. The other relays deliver \(pushes)")
        #expect(delivers.since == nil, "the time of its end is not known")
        facts.runningRelays = 1
        let alone = StatusSummary(facts).incidents.first { $0.kind == .relayMissing }?.effect
        #expect(alone == "Its last heartbeat was 6 s ago. This relay delivers \(pushes)")
        facts.commitSince = Self.now - 4_000
        let waits = try #require(StatusSummary(facts).incidents.first { $0.kind == .relayMissing })
        #expect(waits.effect == "Its last heartbeat was 6 s ago. Its pushes wait until the database can be used again.")
    }

    @Test func `every other problem has an incident with a remedy`() {
        var facts = facts
        facts.isDraining = true
        facts.lanes[1].pause = LanePause(lane: facts.lanes[1].lane, since: Self.now - 3_600_000, caller: "kim")
        facts.rejection = LastingProblem(since: Self.now - 5_000, "relay.json is not valid JSON")
        facts.webhooks = [("rides", LastingProblem(since: Self.now - 5_000, "the answer was status 500"))]
        facts.clockJump = StatusFacts.ClockJump(time: Self.now - 5_000, seconds: -7_200)
        facts.deadLetters = [
            "wallet": DeadLetterCount(count: 31, newest: Self.now - 60_000), "other": .init(count: 1, newest: 0),
        ]
        facts.lanes[0].backlog?.retrying = 2
        facts.lanes[0].backlog?.oldestRetry = Self.now - 5_000
        facts.lanes[0].retryReason = "429 TooManyRequests"
        facts.fleetOutdatedSince = Self.now - 20_000
        facts.missingRelays = [FleetView.MissingNode(number: 3, name: "b", since: Self.now - 6_000)]
        facts.duplicateRelays = [FleetView.Duplicate(name: "a", numbers: [1, 2])]
        let summary = StatusSummary(facts)
        let kinds: [Incident.Kind] = [
            .draining, .deadLetters, .paused, .configurationRejected, .webhookFailing, .relayMissing, .duplicateName,
            .fleetOutdated, .retrying, .clockJumped,
        ]
        #expect(summary.incidents.map(\.kind) == kinds)
        #expect(summary.incidents.allSatisfy { !$0.action.isEmpty && !$0.runbook.isEmpty })
        let texts = summary.incidents.map { $0.text(at: Self.now) }
        #expect(texts[2].hasPrefix("rides is paused by kim since 11:41 UTC (1 h). No push waits. Resume"))
        #expect(texts[5].hasPrefix("Relay 3 (b) is missing. Its last heartbeat was 6 s ago."))
        #expect(texts[6].hasPrefix("Relays 1 and 2 have the same name, a. They deliver"))
        #expect(
            texts[1].hasPrefix(
                "31 pushes of wallet were abandoned after repeated attempts. The last one was abandoned 1 min ago."
            )
        )
        #expect(texts[8].hasPrefix("2 pushes of orders are being sent again. Apple refused them for now"))
        #expect(texts[9].hasPrefix("The clock of this machine jumped back by 2 h since 12:40 UTC (5 s)."))
        #expect(summary.headline == "This relay is shutting down. 7 more problems.")
        #expect(texts[0].hasPrefix("This relay is shutting down. It accepts no more pushes"))
    }

    @Test func `notices do not change the headline, and become warnings later`() {
        var facts = facts
        facts.lanes[0].backlog?.retrying = 1
        facts.lanes[0].backlog?.oldestRetry = Self.now - 5_000
        facts.deadLetters = ["orders": DeadLetterCount(count: 1, newest: Self.now - 7_200_000)]
        #expect(StatusSummary(facts).headline == "All 3 apps deliver. No push waits.")
        #expect(StatusSummary(facts).incidents.map(\.severity) == [.notice, .notice])
        #expect(StatusSummary(facts).incidents.contains { $0.action.hasSuffix("send it again from the dead letters.") })
        facts.lanes[0].backlog?.oldestRetry = Self.now - 1_800_000
        #expect(StatusSummary(facts).incidents.map(\.severity) == [.warning, .notice])
        facts.lanes[0].problem = Self.problem("ConnectionFailed")
        facts.lanes[0].backlog?.count = 1
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.appleUnreachable, .deadLetters], "named once")
        facts.lanes[0].problem = nil
        facts.lanes[0].pause = LanePause(lane: facts.lanes[0].lane, since: Self.now, caller: "kim")
        #expect(StatusSummary(facts).incidents.map(\.kind) == [.paused, .deadLetters], "a paused lane sends nothing")
        facts.clockJump = StatusFacts.ClockJump(time: Self.now - 3_600_001, seconds: 100)
        #expect(!StatusSummary(facts).incidents.contains { $0.kind == .clockJumped })
    }

    @Test func `times and lists are readable at any size`() {
        let durations: [Int64] = [-1, 59_999, 60_000, 3_600_000, 5_460_000, 86_400_000, 172_800_000, .max]
        #expect(
            durations.map(StatusText.duration).dropLast()
                == ["0 s", "59 s", "1 min", "1 h", "1 h 31 min", "1 day", "2 days"]
        )
        let exact: [Int64] = [-1, 59_999, 60_000, 179_000, 3_599_000, 3_601_000]
        #expect(exact.map(StatusText.exactDuration) == ["0 s", "59 s", "1 min", "2 min 59 s", "59 min 59 s", "1 h"])
        let short: [Int64] = [-1, 99, 100, 449, 9_999, 10_000]
        #expect(short.map(StatusText.shortDuration) == ["<0.1 s", "<0.1 s", "0.1 s", "0.4 s", "10 s", "10 s"])
        #expect(StatusText.time(Self.now - 86_400_000, at: Self.now) == "2026-11-24 12:41 UTC")
        #expect(
            StatusText.list([]).isEmpty && StatusText.list(["a"]) == "a" && StatusText.list(["a", "b"]) == "a and b"
        )
        #expect(StatusText.list(["a", "b", "c", "d"]) == "a, b, c and d")
        #expect(StatusText.list(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more")
    }
}
