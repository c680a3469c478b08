internal import CPostgreSQL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One connection to PostgreSQL, which it closes when it goes.
///
/// The module `PostgreSQL` keeps rows where several machines share them, through libpq, with its unsafe pointers
/// inside. It knows statements, parameters and rows and nothing of what they are about, and it waits for nothing but
/// the first connection: whoever has a session watches its ``descriptor``, and asks it to ``receive()`` and to
/// ``flush()``.
///
/// After ``beginPipeline()`` questions are sent one after the other without waiting for answers, each a transaction of
/// its own (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html). A session belongs to one actor or task,
/// which the compiler sees to: it is not `Sendable`.
package final class Session {
    /// What has come from the server.
    package enum Answer {
        /// A question has been answered.
        case rows(Rows)
        /// A question has been refused; nothing has changed.
        case failed(PostgreSQLError)
    }

    private let connection: OpaquePointer
    /// The answer to the question that is being answered, until the server says that this was all.
    private var answer: Answer?
    /// Questions without an answer.
    package private(set) var openQuestions = 0

    /// Connects, and waits for that: for as long as `connect_timeout` says for each host, three seconds by default.
    ///
    /// - Parameters:
    ///   - address: What libpq takes: `postgresql://…` or `host=… dbname=…`, with any number of hosts.
    ///   - name: What the server knows the connection by.
    /// - Throws: ``PostgreSQLError``, which says which hosts were tried and what each said.
    package init(_ address: String, name: String) throws(PostgreSQLError) {
        let words = [
            "dbname": address, "fallback_application_name": name, "client_encoding": "UTF8",
            // A machine that has vanished is noticed within half a minute.
            "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
        ]
        let defaults = address.contains("connect_timeout") ? [:] : ["connect_timeout": "3"]
        // What the address says comes last, and counts.
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
        // What the server remarks on is for nobody here.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
    }

    deinit {
        PQfinish(connection)
    }

    /// The number of the server's process for this connection; 0 behind poolers that do not report it.
    package var serverProcess: Int64 { Int64(PQbackendPID(connection)) }

    /// Where to wait for the server.
    package var descriptor: CInt { PQsocket(connection) }

    /// Runs a script and waits for it; all of it counts, or nothing.
    ///
    /// It has to come before ``beginPipeline()``.
    ///
    /// - Parameters:
    ///   - script: The statements.
    ///   - limit: How long the server may take.
    /// - Throws: ``PostgreSQLError``, of kind `.noAnswer` when the server takes longer: then the script may have run.
    package func execute(_ script: String, within limit: Duration) throws(PostgreSQLError) {
        let end = ContinuousClock.now + limit
        guard PQsendQuery(connection, script) == 1 else { throw .disconnected(Session.message(connection)) }
        var error: PostgreSQLError?
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
            PQclear(result)
        }
        if let error { throw error }
    }

    /// From now on nothing waits.
    package func beginPipeline() throws(PostgreSQLError) {
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
            throw .disconnected(Session.message(connection))
        }
    }

    /// Sends a question, which is a transaction of its own; it may still have to be flushed.
    ///
    /// - Parameters:
    ///   - sql: One statement with `$1` and so on for what it is about.
    ///   - parameters: What it is about.
    /// - Throws: ``PostgreSQLError`` of kind `.disconnected`.
    package func ask(_ sql: String, _ parameters: [Parameter]) throws(PostgreSQLError) {
        var types: [Oid] = []
        var bytes: [UInt8] = []
        var places: [Range<Int>?] = []
        for parameter in parameters {
            types.append(parameter.type)
            let start = bytes.count
            places.append(parameter.write(to: &bytes) ? start..<bytes.count : nil)
        }
        // An empty value is no missing one: each has an address.
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
        openQuestions += 1
    }

    /// Writes what has not been written yet, as far as the network takes it.
    ///
    /// - Returns: Whether something is left for when it takes more.
    package func flush() throws(PostgreSQLError) -> Bool {
        let status = PQflush(connection)
        guard status >= 0 else { throw .disconnected(Session.message(connection)) }
        return status == 1
    }

    /// Reads what has come.
    package func receive() throws(PostgreSQLError) {
        guard PQconsumeInput(connection) == 1 else { throw .disconnected(Session.message(connection)) }
    }

    /// The next answer that has come whole, in the order of the questions; nil when more has to be received first.
    package func nextAnswer() throws(PostgreSQLError) -> Answer? {
        while openQuestions > 0, PQisBusy(connection) == 0 {
            // Nil ends each list of results.
            guard let result = PQgetResult(connection) else {
                guard PQstatus(connection) == CONNECTION_OK else { throw .disconnected(Session.message(connection)) }
                continue
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                openQuestions -= 1
                defer { answer = nil }
                return answer ?? .failed(.disconnected("the server has not answered"))
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                answer = .rows(Rows(adopting: result))
            default:
                answer = .failed(failure(result))
                PQclear(result)
            }
        }
        return nil
    }

    /// The next word from others that this session listens to (`LISTEN`): the channel and what was said.
    package func nextNotice() -> (channel: String, text: String)? {
        guard let notice = PQnotifies(connection) else { return nil }
        defer { PQfreemem(notice) }
        return (String(cString: notice.pointee.relname), String(cString: notice.pointee.extra))
    }

    private func failure(_ result: OpaquePointer?) -> PostgreSQLError {
        guard let state = PQresultErrorField(result, CInt(UInt8(ascii: "C"))) else {
            return .disconnected(Session.message(connection))
        }
        let message = PQresultErrorField(result, CInt(UInt8(ascii: "M"))).map { String(cString: $0) }
        return PostgreSQLError(state: String(cString: state), message ?? "the server refused")
    }

    /// What libpq says, in one line.
    private static func message(_ connection: OpaquePointer) -> String {
        let lines = String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isNewline).map { line in
            line.drop(while: \.isWhitespace)
        }
        return lines.isEmpty ? "the connection was lost" : lines.joined(separator: "; ")
    }
}
