// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A snapshot of a kind or a version that this module does not know, which a reader skips.
///
/// A writer creates one for an experiment with a kind that the contract does not have. Readers that take part in the
/// experiment use ``content``, and all others skip the snapshot. The article <doc:EvolveTheContract> has the rules.
public struct UnknownSnapshot: Sendable, Hashable {
    /// The version of the contract.
    public let schemaVersion: String
    /// The kind of surface.
    public let kind: String
    /// The identifier of this revision.
    public let id: String
    /// The identifier of the surface in all its revisions.
    public let surfaceID: String
    /// The whole snapshot.
    public let json: JSONValue

    /// Creates a snapshot for an experiment, in the current version of the contract.
    ///
    /// - Parameters:
    ///   - kind: The kind, which no version of the contract may have.
    ///   - id: The identifier of this revision.
    ///   - surfaceID: The identifier of the surface in all its revisions.
    ///   - updatedAt: The time at which the snapshot is written.
    ///   - state: The state of the surface's subject.
    ///   - content: The content of the surface, an object.
    /// - Throws: ``SurfaceError`` if the contract has the kind, an identifier is empty, or the content is not an
    ///   object.
    public init(
        experiment kind: String,
        id: String,
        surfaceID: String,
        updatedAt: SurfaceDate,
        state: SurfaceState,
        content: JSONValue
    ) throws(SurfaceError) {
        guard SurfaceKind(rawValue: kind) == nil, !UnknownSnapshot.commonNames.contains(kind) else {
            throw SurfaceError(.invalidValue, at: ["kind"], "must not be a kind or a member of the contract")
        }
        try self.init(
            [
                .init("schemaVersion", .string(SurfaceSnapshot.schemaVersion)), .init("id", .string(id)),
                .init("surfaceId", .string(surfaceID)), .init("kind", .string(kind)),
                .init("updatedAt", .string(updatedAt.rawValue)), .init("state", .string(state.rawValue)),
                .init(kind, content),
            ],
            version: .current
        )
    }

    /// The members of every snapshot, beside which the content is a member with the name of the kind.
    private static let commonNames = ["schemaVersion", "id", "surfaceId", "kind", "updatedAt", "state"]

    /// The version of a snapshot in relation to this module.
    enum Version: Hashable {
        case current
        case newer(String)
    }

    /// Reads the members that every version has, and in the current version those that every kind has.
    init(_ members: [JSONValue.Member], version: Version) throws(SurfaceError) {
        var fields = FieldReader(members, categories: .standard)
        id = fields.required("id", .nonEmptyText)
        surfaceID = fields.required("surfaceId", .nonEmptyText)
        kind = fields.required("kind", .nonEmptyText)
        switch version {
        case .current:
            schemaVersion = SurfaceSnapshot.schemaVersion
            _ = fields.required("updatedAt", .date)
            _ = fields.required("state", Rule<SurfaceState>.choice(standIn: .active))
            if let content = fields.member(kind) {
                if content.members == nil { fields.report(.invalidType, kind, content.mismatch("an object")) }
            } else {
                fields.report(.invalidType, kind, "is missing")
            }
        case .newer(let version): schemaVersion = version
        }
        guard fields.issues.isEmpty else { throw SurfaceError(fields.issues) }
        json = .object(members)
    }

    /// The content of the surface; nil if a newer version has it elsewhere.
    public var content: JSONValue? { json[kind] }

    /// The reason for which a reader skips the snapshot, with the remedy.
    public var warning: String {
        let snapshot = "the snapshot \(ShownValue(id))"
        return schemaVersion == SurfaceSnapshot.schemaVersion
            ? "the kind \(ShownValue(kind)) of \(snapshot) is unknown: update this reader if it should show the surface"
            : "\(snapshot) is of version \(ShownValue(schemaVersion)), and this reader knows version "
                + "\(SurfaceSnapshot.schemaVersion): update it"
    }
}
