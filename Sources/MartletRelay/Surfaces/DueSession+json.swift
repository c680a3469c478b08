// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

extension DueSession {
    /// Returns what the installation shall show, and what it is assumed to show, for an answer of the API.
    ///
    /// - Parameters:
    ///   - content: The content of the surface; nil when it is withdrawn or cannot be read.
    ///   - showsUser: Whether the key may read users.
    /// - Returns: The installation, with an account of each kind that it shall show or may still show.
    func json(of content: SurfaceContent?, showsUser: Bool) -> JSONValue {
        // The revision is 0 once the installation has left the audience.
        let desired = session.revision == 0 ? nil : content
        var state = session.isDamaged ? nil : try? SurfaceSessionState(stored: session.state)
        // The next step takes them.
        state?.record(session.results)
        let accounts = (state ?? SurfaceSessionState()).account(of: desired, revision: surface.revision)
        return .members([
            "installation": .string(installation.installation.id.description),
            "user": showsUser ? .string(installation.installation.user) : nil,
            "in-audience": .bool(session.revision != 0), "due-at": .whole(session.dueAt),
            "kinds": .object(accounts.map { JSONValue.Member($0.kind.rawValue, $0.json) }),
        ])
    }
}

extension SurfaceAccount {
    fileprivate var json: JSONValue {
        .members([
            "desired-revision": .whole(desiredRevision), "assumed-revision": .whole(shownRevision),
            "since": .whole(since), "state": .string(state.rawValue), "reason": reason.map { .string($0.rawValue) },
        ])
    }
}
