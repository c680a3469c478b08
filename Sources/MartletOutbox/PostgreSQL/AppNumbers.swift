// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL
internal import Synchronization

/// The numbers of apps in the database, which any node may assign, with those known in memory.
final class AppNumbers: Sendable {
    private let connections: DatabaseConnections
    private let numbers = Mutex<[String: Int64]>([:])

    /// Creates numbers of which none is known.
    init(_ connections: DatabaseConnections) {
        self.connections = connections
    }

    /// Reads the numbers of all apps.
    func load() async throws(PostgreSQLError) {
        let all = try await connections.run(.watching, "SELECT name, number FROM martlet.app") { rows in
            rows.all.map { ($0.text(at: 0), $0.integer(at: 1)) }
        }
        numbers.withLock { $0.merge(all) { _, new in new } }
    }

    /// Returns the number of an app, which is assigned on its first use.
    func number(of app: String) async throws(OutboxError) -> Int64 {
        if let number = number(ofKnown: app) { return number }
        let number = try await connections.query(.watching, "SELECT martlet.app_number($1)", [.text(app)]) {
            $0.first?.integer(at: 0) ?? 0
        }
        numbers.withLock { $0[app] = number }
        return number
    }

    /// Returns the number of a known app; nil for others.
    func number(ofKnown app: String) -> Int64? { numbers.withLock { $0[app] } }

    /// Returns the name of an app by its number.
    func name(of app: Int64) async throws(OutboxError) -> String {
        if let name = numbers.withLock({ all in all.first { $0.value == app }?.key }) { return name }
        let sql = "SELECT name FROM martlet.app WHERE number = $1"
        let name = try await connections.query(.watching, sql, [.integer(app)]) { $0.first?.text(at: 0) ?? "" }
        numbers.withLock { $0[name] = app }
        return name
    }
}
