// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

extension DueSession {
    /// The state with the results that the next step takes; that before the first step if it cannot be read.
    var currentState: SurfaceSessionState {
        var state = session.isDamaged ? nil : try? SurfaceSessionState(stored: session.state)
        state?.record(session.results)
        return state ?? SurfaceSessionState()
    }

    /// Returns what the installation shall show, and what it is assumed to show, for an answer of the API.
    ///
    /// - Parameters:
    ///   - state: The state of the session.
    ///   - content: The content of the surface; nil when it is withdrawn or cannot be read.
    ///   - broadcasts: The statuses of the known broadcasts of the surface.
    ///   - showsUser: Whether the key may read users.
    /// - Returns: The installation, with an account of each kind that it shall show or may still show.
    func json(
        _ state: SurfaceSessionState,
        of content: SurfaceContent?,
        _ broadcasts: [APNsID: PushStatus],
        showsUser: Bool
    ) -> JSONValue {
        // The revision is 0 once the installation has left the audience.
        let desired = session.revision == 0 ? nil : content
        let broadcast = state.activity.broadcast.flatMap { surface.id(of: $0) }.flatMap { broadcasts[$0] }
        let accounts = state.account(of: desired, changedBy: ContentChange(of: surface), broadcast: broadcast)
        return .members([
            "installation": .string(installation.installation.id.description),
            "user": showsUser ? .string(installation.installation.user) : nil,
            "in-audience": .bool(session.revision != 0), "due-at": .whole(session.dueAt),
            "kinds": .object(
                accounts.map { JSONValue.Member($0.kind.rawValue, $0.json(detail: missingToken(for: $0, of: desired))) }
            ),
        ])
    }

    /// Returns the name of the token that a kind of the surface lacks, with the names that the app has reported; nil if
    /// none is missing.
    private func missingToken(for account: SurfaceAccount, of content: SurfaceContent?) -> String? {
        guard let content else { return nil }
        let slot: Installation.TokenSlot
        if account.kind == .liveActivity, account.reason == .noStartToken {
            slot = Installation.TokenSlot(.start, content.attributesType)
        } else if account.kind == .control, let control = content.control {
            slot = Installation.TokenSlot(.control, control)
        } else {
            return nil
        }
        let (list, member) =
            slot.kind == .start ? ("tokens.start", "attributes-type") : ("tokens.controls", "control")
        let tokens = installation.installation.tokens
        guard tokens[slot] == nil else { return nil }
        let names = tokens.keys.filter { $0.kind == slot.kind }.map(\.name).sorted()
        let found = names.isEmpty ? "nothing" : names.joined(separator: ", ")
        return "\(list) has no token of \(slot.name) (found \(found)): have the app report it, or change \(member)"
    }
}

extension SurfaceAccount {
    fileprivate func json(detail: String?) -> JSONValue {
        .members([
            "desired-revision": .whole(desiredRevision), "assumed-revision": .whole(shownRevision),
            "since": .whole(since), "state": .string(state.rawValue), "reason": reason.map { .string($0.rawValue) },
            "detail": detail.map { .string($0) }, "channel": usesChannel ? .bool(true) : nil,
        ])
    }
}
