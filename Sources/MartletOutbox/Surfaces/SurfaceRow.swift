// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The columns of surfaces and sessions, which both engines have.
enum SurfaceRow {
    /// The columns of a surface, in the order in which ``StoredSurface/init(_:app:)`` reads them.
    ///
    /// `app` is the number of the app. The audience is a kind and a text: `users` with a JSON array of them,
    /// `installation` with the identifier, or `matching` with the expression in its usual form.
    static let columns = """
        number, app, id, caller, audience_kind, audience, fingerprint, request, ends_at, created_at, changed_at, \
        withdrawn_at, revision, cursor, channel
        """

    /// Returns ``columns`` with an empty value in place of the fingerprint and of the request, which are not read then.
    static func columnsWithoutContent(empty: String) -> String {
        columns.replacing("fingerprint, request", with: "\(empty), \(empty)")
    }

    /// The columns of a session, in the order in which ``StoredSession/init(_:)`` reads them.
    ///
    /// `results` has the lines of ``SessionResult/line``, and is null or empty without results.
    static let sessionColumns = "number, surface, installation, revision, version, state, results, due_at"
}

extension StoredSurface {
    /// Reads the columns ``SurfaceRow/columns``; with an audience that cannot be read, the surface is damaged.
    init(_ row: borrowing some DatabaseRow & ~Copyable, app: String) {
        let audience = SurfaceAudience(kind: row.text(at: 4), text: row.text(at: 5))
        let surface = Surface(
            app: app,
            id: row.text(at: 2),
            caller: row.text(at: 3),
            audience: audience ?? .users([]),
            request: row.bytes(at: 7),
            fingerprint: row.bytes(at: 6),
            endsAt: row.optionalInteger(at: 8),
            channel: row.optionalText(at: 14)
        )
        self.init(
            number: row.integer(at: 0),
            revision: row.integer(at: 12),
            surface: surface,
            createdAt: row.integer(at: 9),
            changedAt: row.integer(at: 10),
            withdrawnAt: row.optionalInteger(at: 11),
            cursor: row.optionalInteger(at: 13)
        )
        isDamaged = audience == nil
    }
}

extension SurfaceAudience {
    /// The kind and the text of the audience.
    var columns: (kind: String, text: String) {
        switch self {
        case .users(let users): ("users", InstallationRow.text(of: users))
        case .installation(let id): ("installation", id.description)
        case .matching(let expression): ("matching", expression.description)
        }
    }

    /// The users of the audience, by whom the surfaces of an installation are found; empty for another audience.
    var userNames: [String] { if case .users(let users) = self { users } else { [] } }

    /// Creates an audience from its columns; nil for other texts.
    fileprivate init?(kind: String, text: String) {
        switch kind {
        case "users": self = .users(InstallationRow.texts(text))
        case "installation":
            guard let id = InstallationID(text) else { return nil }
            self = .installation(id)
        case "matching":
            guard let expression = try? AudienceExpression(text) else { return nil }
            self = .matching(expression)
        default: return nil
        }
    }
}

extension StoredSession {
    /// Reads the columns ``SurfaceRow/sessionColumns``.
    init(_ row: borrowing some DatabaseRow & ~Copyable) {
        self.init(
            number: row.integer(at: 0),
            surface: row.integer(at: 1),
            installation: row.integer(at: 2),
            revision: row.integer(at: 3),
            version: row.integer(at: 4),
            state: row.bytes(at: 5),
            results: SessionResult.read(row.optionalText(at: 6)),
            dueAt: row.optionalInteger(at: 7)
        )
    }
}

extension SessionResult {
    /// The line of the result in a column, with the line break.
    ///
    /// It has the identifier, the state, the status, which is `-` for none, and the time, separated by spaces.
    var line: String { "\(id) \(state.rawValue) \(status.map { "\($0)" } ?? "-") \(endedAt)\n" }

    /// Returns the results of lines; those that are not results are ignored.
    fileprivate static func read(_ text: String?) -> [SessionResult] {
        (text ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let id = try? APNsID(String(words[0])), let endedAt = Int64(words[3]),
                let state = Outcome.State(rawValue: String(words[1]))
            else { return nil }
            return SessionResult(id: id, state: state, status: Int(words[2]), endedAt: endedAt)
        }
    }
}
