// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import OutboxModel
import Testing

@testable import MartletRelay

/// The pages and the turns of jobs, without an outbox.
@Suite(.timeLimit(.minutes(10))) struct JobPageBuilderTests {
    private static let now: Int64 = 1_795_000_000_000
    private static let alert = #"{"payload":{"aps":{"alert":"Hi"}},"to":{"all":true}}"#

    private func app(_ environments: [PushEnvironment] = [.production]) throws -> RelayConfiguration.App {
        RelayConfiguration.App(
            name: "orders",
            bundleIDs: ["com.example.orders"],
            key: try .ephemeral(),
            environments: environments
        )
    }

    private func job(
        _ number: Int64 = 1,
        _ request: String = Self.alert,
        notBefore: Int64? = nil,
        expiresAt: Int64? = nil
    ) -> StoredJob {
        let job = Job(
            app: "orders",
            id: APNsID(randomBits: (UInt64(number), 7)),
            caller: "shop",
            fingerprint: [],
            request: Array(request.utf8),
            audience: "all",
            notBefore: notBefore,
            expiresAt: expiresAt
        )
        return StoredJob(number: number, job: job, createdAt: Self.now, highMark: 100, cursor: 10)
    }

    private func member(
        _ number: UInt64,
        token: String? = "ab12",
        in environment: PushEnvironment = .production,
        bundleID: String = "com.example.orders",
        alerts: Bool? = nil,
        locale: String? = nil,
        timeZone: String? = nil
    ) throws -> AudienceMember {
        var generator = SplitMix64(state: number)
        var permissions: [Installation.Permission: Bool] = [:]
        permissions[.alerts] = alerts
        return AudienceMember(
            number: Int64(number),
            installation: InstallationID(milliseconds: 1, using: &generator),
            user: "user \(number)",
            environment: environment,
            bundleID: bundleID,
            permissions: permissions,
            token: try token.map { try DeviceToken(hex: $0) },
            locale: locale,
            timeZone: timeZone,
            appVersion: nil,
            systemVersion: nil
        )
    }

    private func builder(
        of job: StoredJob,
        _ apps: [RelayConfiguration.App],
        at now: Int64 = Self.now
    ) throws -> JobPageBuilder {
        let lane = Lane(app: "orders", environment: .production)
        return try JobPageBuilder(job, apps, [lane: SnapshotRenderer(timeout: .seconds(30))], at: now)
    }

    @Test func `each installation of a page has a push or a reason`() throws {
        var builder = try builder(of: job(), [app()])
        var page = AudiencePage()
        page.members = try [
            member(1), member(2, token: nil), member(3, alerts: false), member(4, alerts: true),
            member(5, in: .development), member(6, bundleID: "com.example.other"),
        ]
        page.next = 50
        try builder.add(page)
        let first = builder.page
        #expect(first.job == 1 && first.cursor == 10 && first.nextCursor == 50 && !first.isLast)
        #expect(first.leftOut == [.noToken: 1, .notAllowed: 1, .notConfigured: 2])
        let pushes = first.pushes.map(\.push)
        #expect(pushes.map(\.user) == ["user 1", "user 4"] && pushes.map(\.installation) == [1, 4])
        #expect(pushes.allSatisfy { $0.job == 1 && !$0.hasCallersID && $0.urgency == .job })
        #expect(Set(pushes.map(\.id)).count == 2)
        page = AudiencePage()
        page.members = try [member(7)]
        try builder.add(page)
        let last = builder.page
        #expect(last.nextCursor == 100 && last.isLast && last.pushes.count == 3)
    }

    @Test func `each installation of a page has the payload in its language`() throws {
        let request = #"""
            {"locales":{"de":{"n":"de"},"fr":{"n":"fr"}},"payload":{"aps":{"alert":"Hi"},"n":"en"},"to":{"all":true}}
            """#
        var builder = try builder(of: job(1, request), [app()])
        var page = AudiencePage()
        page.members = try ["de_AT", nil, "fr", "it", "de"].enumerated().map { index, locale in
            try member(UInt64(index), locale: locale)
        }
        try builder.add(page)
        let names = builder.page.pushes.map { (try? JSONReader.read($0.push.payload))?["n"]?.stringValue }
        #expect(names == ["de", "en", "fr", "en", "de"])
    }

    @Test func `an installation has the values of its user, or a reason`() throws {
        let request = #"""
            {"default-values":{"count":0},"payload":{"aps":{"alert":"Hi"},"n":"{{name}} {{count}}"},"to":{"all":true},
             "values":{"user 1":{"name":"Anna","count":2},"user 3":{"name":"Carl"}}}
            """#
        var builder = try builder(of: job(1, request), [app()])
        var page = AudiencePage()
        page.members = try [member(1), member(2), member(3), member(4, token: nil)]
        try builder.add(page)
        let names = builder.page.pushes.map { (try? JSONReader.read($0.push.payload))?["n"]?.stringValue }
        #expect(names == ["Anna 2", "Carl 0"] && builder.page.leftOut == [.noValues: 1, .noToken: 1])
    }

    @Test func `a push's identifier depends on its job and installation`() throws {
        let installation = try member(1).installation
        let other = try member(2).installation
        let id = try #require(JobPageBuilder.id(of: installation, in: job(1).job))
        #expect(JobPageBuilder.id(of: installation, in: job(1).job) == id)
        #expect(JobPageBuilder.id(of: installation, in: job(2).job) != id)
        #expect(JobPageBuilder.id(of: other, in: job(1).job) != id)
    }

    @Test func `an app that was removed has only reasons`() throws {
        var builder = try builder(of: job(), [])
        var page = AudiencePage()
        page.members = try [member(1)]
        try builder.add(page)
        #expect(builder.page.pushes.isEmpty && builder.page.leftOut == [.notConfigured: 1])
    }

    @Test func `a push does not outlive its job`() throws {
        let request = #"{"expiration":1795000060,"payload":{"aps":{"alert":"Hi"}},"to":{"all":true}}"#
        let end = Self.now + 60_000
        for time in [Self.now, end + 3_600_000] {
            var builder = try builder(of: job(1, request, expiresAt: end), [app()], at: time)
            var page = AudiencePage()
            page.members = try [member(1)]
            try builder.add(page)
            #expect(builder.page.pushes.map(\.push.expiresAt) == [end])
        }
    }

    @Test func `updates of a Live Activity have the time of the job`() throws {
        let snapshot = SurfaceExample.json(of: "liveActivity")
        let request = #"{"snapshot":\#(snapshot),"to":{"activity":"A-1","all":true}}"#
        for (notBefore, expected) in [(nil, Self.now), (Self.now + 9_000, Self.now + 9_000)] as [(Int64?, Int64)] {
            for time in [expected, expected + 120_000] {
                var builder = try builder(of: job(1, request, notBefore: notBefore), [app()], at: time)
                var page = AudiencePage()
                page.members = try [member(1), member(2, token: "cd34")]
                try builder.add(page)
                let pushes = builder.page.pushes.map(\.push)
                let times = pushes.map { (try? JSONReader.read($0.payload))?["aps"]?["timestamp"]?.integerValue }
                #expect(times == [expected / 1_000, expected / 1_000], "\(builder.page.leftOut)")
            }
        }
    }

    @Test func `each push has the local time of its phone`() throws {
        let snapshot = SurfaceExample.json(of: "liveActivity")
        let request = #"{"local-time":"2026-11-18T20:00","snapshot":\#(snapshot),"to":{"activity":"A-1","all":true}}"#
        var builder = try builder(of: job(1, request), [app()])
        var page = AudiencePage()
        page.members = try [
            member(1, timeZone: "Europe/Berlin"), member(2, token: "cd34", timeZone: "Asia/Tokyo"),
            member(3, token: "ef56"),
        ]
        try builder.add(page)
        let pushes = builder.page.pushes.map(\.push)
        let (berlin, tokyo, utc): (Int64, Int64, Int64) = (1_795_028_400, 1_794_999_600, 1_795_032_000)
        #expect(pushes.map(\.notBefore) == [berlin * 1_000, tokyo * 1_000, utc * 1_000])
        // The time in Tokyo is before the creation of the job.
        let times = pushes.map { (try? JSONReader.read($0.payload))?["aps"]?["timestamp"]?.integerValue }
        #expect(times == [berlin, Self.now / 1_000, utc])
    }

    @Test func `an alert waits for the end of the quiet hours of its phone`() throws {
        var app = try app()
        // The time is 11:06:40 in UTC.
        app.quietHours = try QuietHours.test(from: "12:00", to: "13:00")
        var page = AudiencePage()
        page.members = try [member(1, timeZone: "Europe/Berlin"), member(2, timeZone: "Asia/Tokyo"), member(3)]
        var alerts = try builder(of: job(), [app])
        try alerts.add(page)
        let end = Self.now + 3_200_000
        #expect(alerts.page.pushes.map(\.push.notBefore) == [end, nil, nil])
        var expiring = try builder(of: job(expiresAt: end), [app])
        try expiring.add(page)
        #expect(expiring.page.pushes.count == 2 && expiring.page.leftOut == [.quietHours: 1])
        let background = #"""
            {"payload":{"aps":{"content-available":1}},"priority":5,"push-type":"background","to":{"all":true}}
            """#
        var others = try builder(of: job(1, background), [app])
        try others.add(page)
        #expect(others.page.pushes.map(\.push.notBefore) == [nil, nil, nil])
    }

    @Test func `the alerts of a job count as one request to each user`() throws {
        var app = try app()
        app.alertsPerDay = 5
        var page = AudiencePage()
        page.members = try [member(1), member(2)]
        var alerts = try builder(of: job(), [app])
        try alerts.add(page)
        let limit = AlertLimit(perDay: 5, request: job().job.id)
        #expect(alerts.page.pushes.map(\.push.alertLimit) == [limit, limit])
        let background = #"""
            {"payload":{"aps":{"content-available":1}},"priority":5,"push-type":"background","to":{"all":true}}
            """#
        var others = try builder(of: job(1, background), [app])
        try others.add(page)
        #expect(others.page.pushes.map(\.push.alertLimit) == [nil, nil])
    }

    @Test func `a request that this version cannot read is an error`() throws {
        for request in ["", "{}", #"{"payload":{},"to":"ab12"}"#, #"{"payload":{},"to":{"user":"anna"}}"#] {
            #expect(throws: APIProblem.self) { try builder(of: job(1, request), [app()]) }
        }
    }

    // MARK: Turns

    @Test func `jobs take turns page by page`() {
        var turns = JobTurns()
        var left: [Int64: Int] = [1: 5, 2: 2, 3: 1]
        var served: [Int64] = []
        // There is room for one page at a time.
        while let next = turns.order(left.filter { $0.value > 0 }.keys.map { job($0) }).first {
            left[next.number, default: 0] -= 1
            served.append(next.number)
            turns.record(next)
        }
        #expect(served == [1, 2, 3, 1, 2, 1, 1, 1])
    }

    @Test func `a job whose request cannot be decrypted ends with a problem`() async throws {
        var job = job()
        #expect(job.json["problem"] == nil)
        job.isDamaged = true
        let page = try await JobPageBuilder.page(
            of: job,
            from: ModelOutbox(on: ModelOutbox.Disk(), limit: 10).installations,
            apps: [try app()],
            renderers: [:],
            at: Self.now
        )
        #expect(page.isLast && page.cursor == job.cursor && page.pushes.isEmpty && page.leftOut.isEmpty)
        #expect(job.json["problem"]?.stringValue?.contains("cannot be decrypted") == true)
        job.cursor = job.highMark
        #expect(job.json["problem"] == nil, "it had read all installations")
    }

    @Test func `a job waits while 10,000 of its pushes have not ended`() {
        var job = job()
        for (stored, ended, step) in [
            (0, 0, .expand), (9_999, 0, .expand), (10_000, 0, .wait), (10_000, 1, .expand), (30_000, 20_000, .wait),
        ] as [(Int, Int, JobStep)] {
            job.stored = stored
            job.outcomes = [.delivered: ended]
            #expect(JobStep(job) == step, "\(stored) stored, \(ended) ended")
        }
        job.outcomes = [:]
        job.stored = 99_999
        #expect(JobStep(job, unfinishedLimit: 100_000) == .expand)
        job.stored = 100_000
        #expect(JobStep(job, unfinishedLimit: 100_000) == .wait)
        job.stored = 30_000
        job.state = .cancelled
        #expect(JobStep(job) == .cancelPushes)
        job.outcomes = [.cancelled: 30_000]
        #expect(JobStep(job) == .wait)
        job.state = .expanded
        #expect(JobStep(job) == .wait)
    }
}
