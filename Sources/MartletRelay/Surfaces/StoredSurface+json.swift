// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension StoredSurface {
    /// The content that installations shall show; nil when the surface is withdrawn or cannot be read.
    var content: SurfaceContent? {
        withdrawnAt == nil && !isDamaged ? try? SurfaceContent(stored: surface.request) : nil
    }

    /// The reason why nothing is sent for the surface, although it is not withdrawn; nil for none.
    private var problem: String? {
        guard withdrawnAt == nil, content == nil else { return nil }
        return "the stored surface cannot be decrypted or read, so nothing is sent for it: store it again"
    }

    /// Returns the surface without its snapshots for an answer of the API.
    ///
    /// - Parameters:
    ///   - showsUsers: Whether the key may read users; otherwise an audience of users is left out.
    ///   - broadcastProblem: The reason why Apple has refused a broadcast; nil for none.
    /// - Returns: The surface.
    func json(showsUsers: Bool, broadcastProblem: String? = nil) -> JSONValue {
        let namesUsers = if case .users = surface.audience { true } else { false }
        let showsAudience = !isDamaged && (showsUsers || !namesUsers)
        return .members([
            "id": .string(surface.id), "app": .string(surface.app), "caller": .string(surface.caller),
            "state": withdrawnAt == nil ? "desired" : "withdrawn", "revision": .whole(revision),
            "spreading": .bool(cursor != nil), "to": showsAudience ? surface.audience.json : nil,
            // In seconds, as in the request.
            "ends-at": .whole(surface.endsAt.map { $0 / 1_000 }), "created-at": .whole(createdAt),
            "changed-at": .whole(changedAt), "withdrawn-at": .whole(withdrawnAt),
            "problem": (problem ?? broadcastProblem).map { .string($0) },
        ])
    }

    /// Returns the surfaces that an installation shall show for an answer to its app, outside of the event loop.
    ///
    /// - Parameters:
    ///   - surfaces: The surfaces, of which those without the installation in their audience are left out.
    ///   - installation: The installation.
    /// - Returns: The surfaces with their snapshots.
    @concurrent
    static func json(of surfaces: [StoredSurface], for installation: Installation) async -> JSONValue {
        .array(
            surfaces.compactMap { (stored) -> JSONValue? in
                guard stored.surface.audience.contains(installation), let content = stored.content else { return nil }
                return JSONValue.members([
                    "id": .string(stored.surface.id), "revision": .whole(stored.revision),
                    "changed-at": .whole(stored.changedAt), "snapshots": .array(content.snapshots.map(\.json)),
                ])
            }
        )
    }

    /// Returns the answer to a request about the surface, with its revision in `etag`.
    ///
    /// - Parameters:
    ///   - caller: The caller, whose scopes decide whether users and snapshots are shown.
    ///   - status: The status.
    ///   - hasSnapshots: Whether the answer has the snapshots, which need the scope `send`.
    ///   - problem: The reason why Apple has refused a broadcast; nil for none.
    /// - Returns: The answer.
    func answer(
        to caller: Callers.Caller,
        status: Int = 200,
        hasSnapshots: Bool = false,
        problem: String? = nil
    ) -> HTTP1Answer {
        let shown = hasSnapshots && caller.scopes.contains(.send) ? content?.json.members : nil
        let showsUsers = caller.scopes.contains(.installations)
        let members = json(showsUsers: showsUsers, broadcastProblem: problem).members ?? []
        let fields: HTTPFields = [
            "content-type": "application/json", "cache-control": "no-store", "etag": "\"\(revision)\"",
        ]
        let body = JSONValue.object(members + (shown ?? [])).encoded()
        return .whole(HTTPResponse(status: status, fields: fields, body: body))
    }
}
