// SPDX-License-Identifier: Apache-2.0

internal import CMartletPostgreSQL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A connection to PostgreSQL, closed when the object is destroyed.
///
/// The module `MartletPostgreSQL` stores rows that several machines share, through libpq, and contains all unsafe
/// pointers that this needs. It handles statements, parameters and rows and contains no application logic. It blocks
/// only in ``init(_:name:)``, ``execute(_:within:)`` and ``query(_:within:)``. Afterwards the owner of a session
/// monitors its ``descriptor`` and calls ``receive()`` and ``flush()``.
///
/// After ``beginPipeline()`` statements are sent one after the other without waiting for their results, each in a
/// transaction of its own (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html). A session belongs to one
/// actor or task. The compiler enforces this: it is not `Sendable`.
package final class Session {
    /// The result of a statement.
    package enum StatementResult {
        /// The statement succeeded.
        case rows(Rows)
        /// The statement failed and changed nothing.
        case failed(PostgreSQLError)
    }

    private let connection: OpaquePointer
    /// The result of the current statement, until the server reports that the statement is complete.
    private var result: StatementResult?
    /// The number of statements whose results have not been returned.
    package private(set) var pendingStatements = 0

    /// Connects and waits for the connection: for each host at most `connect_timeout`, three seconds by default.
    ///
    /// - Parameters:
    ///   - address: A connection string of libpq, `postgresql://…` or `host=… dbname=…`, with any number of hosts.
    ///   - name: The application name that the server shows for the connection.
    /// - Throws: ``PostgreSQLError``, with the hosts that were tried and the error of each.
    package init(_ address: String, name: String) throws(PostgreSQLError) {
        // The messages of libpq would contain parts of a password that it takes for a host.
        guard ConnectionString(address) != nil else {
            throw .disconnected("the connection string \(ConnectionString.rule)")
        }
        let words = [
            "dbname": address, "fallback_application_name": name, "client_encoding": "UTF8",
            // A host that has disappeared is noticed within half a minute.
            "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
        ]
        let defaults = address.contains("connect_timeout") ? [:] : ["connect_timeout": "3"]
        // The address comes last, so its settings take precedence.
        let all = defaults.sorted { $0.key < $1.key } + words.sorted { $0.key > $1.key }
        var keys = all.map { UnsafePointer(strdup($0.key)) }
        var values = all.map { UnsafePointer(strdup($0.value)) }
        defer { for word in keys + values { free(UnsafeMutablePointer(mutating: word)) } }
        keys.append(nil)
        values.append(nil)
        guard let connection = PQconnectdbParams(keys, values, 1) else {
            throw .disconnected("there is no memory for a connection")
        }
        self.connection = connection
        guard PQstatus(connection) == CONNECTION_OK else { throw .disconnected(Session.message(connection)) }
        // The server's notices are ignored; libpq would print them.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
    }

    deinit {
        PQfinish(connection)
    }

    /// The process identifier of the server for this connection; 0 behind poolers that do not report it.
    package var serverProcess: Int64 { Int64(PQbackendPID(connection)) }

    /// The socket to monitor for input and output.
    package var descriptor: CInt { PQsocket(connection) }

    /// Runs a script in one transaction and waits for its end.
    ///
    /// Must be called before ``beginPipeline()``.
    ///
    /// - Parameters:
    ///   - script: The statements.
    ///   - limit: The maximum time.
    /// - Throws: ``PostgreSQLError``, of kind `.noAnswer` when the time is exceeded; the script may have run then.
    package func execute(_ script: String, within limit: Duration) throws(PostgreSQLError) {
        guard PQsendQuery(connection, script) == 1 else { throw .disconnected(Session.message(connection)) }
        _ = try lastRows(within: limit)
    }

    /// Runs a statement without parameters, waits for its end and returns its rows.
    ///
    /// Must be called before ``beginPipeline()``.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - limit: The maximum time.
    /// - Returns: The rows.
    /// - Throws: ``PostgreSQLError``, of kind `.noAnswer` when the time is exceeded.
    package func query(_ sql: String, within limit: Duration) throws(PostgreSQLError) -> Rows {
        guard PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1) == 1 else {
            throw .disconnected(Session.message(connection))
        }
        guard let rows = try lastRows(within: limit) else { throw .disconnected("the server sent no result") }
        return rows
    }

    /// Waits for the results of all statements that were sent, and returns the rows of the last one.
    private func lastRows(within limit: Duration) throws(PostgreSQLError) -> Rows? {
        let end = ContinuousClock.now + limit
        var error: PostgreSQLError?
        var rows: Rows?
        while true {
            while PQisBusy(connection) == 1 {
                let left = CInt(clamping: Int64((end - .now) / .milliseconds(1)))
                var socket = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard left > 0, poll(&socket, 1, left) >= 0 || errno == EINTR else { throw .noAnswer(for: limit) }
                if socket.revents != 0 { try receive() }
            }
            guard let result = PQgetResult(connection) else { break }
            let status = PQresultStatus(result)
            if status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK { error = error ?? failure(result) }
            rows = Rows(adopting: result)
        }
        if let error { throw error }
        return rows
    }

    /// Enters pipeline mode and makes the connection non-blocking.
    package func beginPipeline() throws(PostgreSQLError) {
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
            throw .disconnected(Session.message(connection))
        }
    }

    /// Sends a statement, which is a transaction of its own; part of it may wait for ``flush()``.
    ///
    /// - Parameters:
    ///   - sql: One statement with `$1` and so on for its parameters.
    ///   - parameters: The values of the parameters.
    /// - Throws: ``PostgreSQLError`` of kind `.disconnected`.
    package func send(_ sql: String, _ parameters: [Parameter]) throws(PostgreSQLError) {
        var types: [Oid] = []
        var bytes: [UInt8] = []
        var places: [Range<Int>?] = []
        for parameter in parameters {
            types.append(parameter.type)
            let start = bytes.count
            places.append(parameter.write(to: &bytes) ? start..<bytes.count : nil)
        }
        // An empty value needs an address, because a null pointer means NULL.
        bytes.append(0)
        let formats = [CInt](repeating: 1, count: parameters.count)
        let lengths = places.map { CInt($0?.count ?? 0) }
        let status = bytes.withUnsafeBytes { bytes in
            let values = places.map { place in
                place.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            return PQsendQueryParams(connection, sql, CInt(places.count), types, values, lengths, formats, 1)
        }
        guard status == 1, PQpipelineSync(connection) == 1 else { throw .disconnected(Session.message(connection)) }
        pendingStatements += 1
    }

    /// Writes buffered output as far as the socket accepts it.
    ///
    /// - Returns: Whether output remains that must be flushed when the socket is writable.
    package func flush() throws(PostgreSQLError) -> Bool {
        let status = PQflush(connection)
        guard status >= 0 else { throw .disconnected(Session.message(connection)) }
        return status == 1
    }

    /// Reads the input that has arrived.
    package func receive() throws(PostgreSQLError) {
        guard PQconsumeInput(connection) == 1 else { throw .disconnected(Session.message(connection)) }
    }

    /// Returns the next complete result, in the order of the statements; nil when more input is needed.
    package func nextResult() throws(PostgreSQLError) -> StatementResult? {
        while pendingStatements > 0, PQisBusy(connection) == 0 {
            // Nil ends the results of each statement.
            guard let received = PQgetResult(connection) else {
                guard PQstatus(connection) == CONNECTION_OK else { throw .disconnected(Session.message(connection)) }
                continue
            }
            switch PQresultStatus(received) {
            case PGRES_PIPELINE_SYNC:
                PQclear(received)
                pendingStatements -= 1
                defer { result = nil }
                return result ?? .failed(.disconnected("the server sent no result"))
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                result = .rows(Rows(adopting: received))
            default:
                result = .failed(failure(received))
                PQclear(received)
            }
        }
        return nil
    }

    /// Returns the next notification on a channel that this session listens to (`LISTEN`): the channel and the payload.
    package func nextNotification() -> (channel: String, text: String)? {
        guard let notification = PQnotifies(connection) else { return nil }
        defer { PQfreemem(notification) }
        return (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }

    private func failure(_ result: OpaquePointer?) -> PostgreSQLError {
        guard let state = PQresultErrorField(result, CInt(UInt8(ascii: "C"))) else {
            return .disconnected(Session.message(connection))
        }
        let message = PQresultErrorField(result, CInt(UInt8(ascii: "M"))).map { String(cString: $0) }
        let user = PQuser(connection).map { String(cString: $0) } ?? ""
        return PostgreSQLError(state: String(cString: state), message ?? "the server refused", user: user)
    }

    /// The error message of libpq in one line.
    private static func message(_ connection: OpaquePointer) -> String {
        let lines = String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isNewline).map { line in
            line.drop(while: \.isWhitespace)
        }
        return lines.isEmpty ? "the connection was lost" : lines.joined(separator: "; ")
    }
}
