// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletOutbox
import MartletSQLite

/// Measurements of the installations of an outbox, for `Benchmarks/people.py`.
enum Audiences {
    /// The number of installations in a page, as in one of a job.
    private static let size = 200

    static let page = Command(
        "audience",
        "Read the first page of an audience from an outbox, and print what it took in microseconds",
        examples: ["audience --data relay.sqlite --app orders --tag vip --times 500"],
        Option<String>("--data", "File or database of the outbox"),
        Option<String>("--app", "Name of the app"),
        Option<String>("--tag", "Tag of the installations"),
        Option<Int>("--times", "Number of repetitions")
    ) { data, app, tag, times in
        let outbox: any OutboxStore
        switch OutboxLocation(data) {
        case .file(let path): outbox = try await SQLiteOutbox(file: path)
        case .database(let address): outbox = try await PostgreSQLOutbox(address: address)
        }
        let scan = AudienceScan(try AudienceExpression(tag), of: app, Installation.TokenSlot(.device))
        var took: [Double] = []
        for _ in 0..<times {
            let begin = ContinuousClock.now
            let count = try await outbox.installations.audiencePage(of: scan, limit: size).members.count
            took.append((ContinuousClock.now - begin) / .microseconds(1))
            try check(count)
        }
        try printMedian(of: took)
        await outbox.close(isInOrder: true)
    }

    static let rows = Command(
        "audience-rows",
        "Read the same rows with SQLite alone, and print what it took in microseconds",
        examples: ["audience-rows --data relay.sqlite --app orders --tag vip --times 500"],
        Option<String>("--data", "File of an outbox that no relay uses"),
        Option<String>("--app", "Name of the app"),
        Option<String>("--tag", "Tag of the installations"),
        Option<Int>("--times", "Number of repetitions")
    ) { data, app, tag, times in
        let source = try Connection(path: data, options: .init(mustExist: true))
        let statement = try source.prepare(
            """
            SELECT i.id, i.user_id, i.environment, i.bundle_id, i.alerts, i.live_activities, i.frequent_updates, (
                SELECT t.token FROM installation_token t
                WHERE t.installation = i.number AND t.kind = 'device' AND t.name = ''
            )
            FROM installation_tag g JOIN installation i ON i.number = g.installation
            WHERE g.app = (SELECT number FROM app WHERE name = ?) AND g.tag = ? ORDER BY g.installation LIMIT \(size)
            """
        )
        var took: [Double] = []
        for _ in 0..<times {
            let begin = ContinuousClock.now
            try statement.bind(app, tag)
            var tokens: [String] = []
            while try statement.step() { tokens.append(statement.text(at: 7)) }
            took.append((ContinuousClock.now - begin) / .microseconds(1))
            try check(tokens.count)
        }
        try printMedian(of: took)
    }

    private static func check(_ count: Int) throws(UsageError) {
        guard count == size else { throw UsageError("the audience must have \(size) installations (found \(count))") }
    }

    private static func printMedian(of took: [Double]) throws(UsageError) {
        guard !took.isEmpty else { throw UsageError("--times must be at least 1") }
        print(took.sorted()[took.count / 2])
    }
}
