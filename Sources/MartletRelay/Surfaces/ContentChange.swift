// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// The change of a surface with which a kind got its content, or with which the surface got its state.
struct ContentChange: Sendable, Hashable {
    /// The revision of the surface.
    let revision: Int64
    /// The time in milliseconds since 1970.
    let changedAt: Int64
}

extension ContentChange {
    /// The last change of a surface.
    init(of stored: StoredSurface) {
        self.init(revision: stored.revision, changedAt: stored.changedAt)
    }
}

/// The kinds whose content a revision of a surface has left as it was.
///
/// They are stored with the surface: the sessions of all phones agree on them, whichever revisions they have seen.
struct UnchangedKinds: Sendable, Hashable {
    /// The revision; another one has changed all kinds, as far as is known.
    var revision: Int64 = 0
    /// The changes with which the kinds got their content.
    var changes: [SurfaceKind: ContentChange] = [:]
}

extension UnchangedKinds {
    /// Reads the stored form.
    init(_ json: JSONValue?) {
        revision = json?["revision"]?.integerValue ?? 0
        for kind in SurfaceKind.allCases {
            guard let change = json?["kinds"]?[kind.rawValue], let revision = change["revision"]?.integerValue,
                let changedAt = change["changed-at"]?.integerValue
            else { continue }
            changes[kind] = ContentChange(revision: revision, changedAt: changedAt)
        }
    }

    /// The stored form; nil if all kinds have changed.
    var json: JSONValue? {
        guard !changes.isEmpty else { return nil }
        let kinds = SurfaceKind.allCases.compactMap { (kind) -> JSONValue.Member? in
            guard let change = changes[kind] else { return nil }
            return JSONValue.Member(
                kind.rawValue,
                ["revision": .integer(change.revision), "changed-at": .integer(change.changedAt)]
            )
        }
        return ["revision": .integer(revision), "kinds": .object(kinds)]
    }
}

extension SurfaceContent {
    /// Returns the change with which a kind of the surface got its content, or was left out.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - last: The last change of the surface.
    /// - Returns: The change.
    func change(of kind: SurfaceKind, until last: ContentChange) -> ContentChange {
        (unchanged.revision == last.revision ? unchanged.changes[kind] : nil) ?? last
    }

    /// Returns the kinds that the content leaves as they are, if it makes the next revision of a stored surface.
    ///
    /// If another change makes that revision, this content gets a later one, and all of its kinds count as changed.
    ///
    /// - Parameter stored: The surface; nil for a new one.
    /// - Returns: The kinds; none if the surface is withdrawn or cannot be read.
    func unchangedKinds(of stored: StoredSurface?) -> UnchangedKinds {
        guard let stored, let old = stored.content else { return UnchangedKinds() }
        var unchanged = UnchangedKinds(revision: stored.revision &+ 1)
        for kind in SurfaceKind.allCases where old.shownBytes(of: kind) == shownBytes(of: kind) {
            unchanged.changes[kind] = old.change(of: kind, until: ContentChange(of: stored))
        }
        return unchanged
    }

    /// Returns everything of a kind that a phone gets with a push, or reads after one; nil without the kind.
    private func shownBytes(of kind: SurfaceKind) -> [UInt8]? {
        switch kind {
        case .liveActivity:
            // The attributes are fixed when the Live Activity starts.
            guard case .liveActivity(let activity)? = snapshot(kind) else { return nil }
            return activity.contentState.json.encoded()
        case .notification:
            guard case .notification(let shown)? = notification else { return nil }
            return shown.payload.encoded()
        case .control:
            // The name decides which control the phone reloads.
            guard let snapshot = snapshot(kind) else { return nil }
            return JSONValue.array([snapshot.canonicalJSON, control.map { .string($0) } ?? .null]).encoded()
        case .widget, .lockAccessory, .standBy: return snapshot(kind)?.canonicalJSON.encoded()
        }
    }

    /// The text of everything that a Live Activity has from its start to its end: the name of the attributes type, and
    /// the attributes; nil without a Live Activity.
    var attributes: String? {
        guard case .liveActivity(let activity)? = snapshot(.liveActivity) else { return nil }
        let attributes = JSONValue.array([.string(attributesType), activity.attributes.json])
        return String(decoding: attributes.encoded(), as: UTF8.self)
    }
}
