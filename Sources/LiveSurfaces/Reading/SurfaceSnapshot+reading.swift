// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension SurfaceSnapshot {
    /// Parses a snapshot from untrusted JSON text and validates it by all rules of the contract.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8; at most 4 MiB, nested at most 64 levels deep.
    ///   - categories: The notification categories that the app registers.
    /// - Throws: ``SurfaceError`` with all errors.
    public init(parsing bytes: [UInt8], categories: NotificationCategories = .standard) throws(SurfaceError) {
        try self.init(SurfaceSnapshot.value(of: bytes), categories: categories)
    }

    /// Creates a snapshot from a JSON value and validates it by all rules of the contract.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - categories: The notification categories that the app registers.
    /// - Throws: ``SurfaceError`` with all errors.
    public init(_ json: JSONValue, categories: NotificationCategories = .standard) throws(SurfaceError) {
        guard let members = json.members else { throw SurfaceError(.invalidType, json.mismatch("an object")) }
        guard let kind = json["kind"]?.stringValue.flatMap(SurfaceKind.init(rawValue:)) else {
            let kinds = SurfaceKind.allCases.map(\.rawValue)
            let missing = "is missing: it must be one of " + kinds.joined(separator: ", ")
            throw SurfaceError(.invalidUnion, at: ["kind"], json["kind"]?.mismatch(among: kinds) ?? missing)
        }
        var reader = FieldReader(members, categories: categories)
        self.init(kind, reading: &reader)
        reader.finish()
        guard reader.issues.isEmpty else { throw SurfaceError(reader.issues) }
    }

    /// Validates the snapshot by all rules of the contract, which a snapshot created in code may break.
    ///
    /// - Parameter categories: The notification categories that the app registers.
    /// - Returns: The snapshot.
    /// - Throws: ``SurfaceError`` with all errors.
    public func validated(categories: NotificationCategories = .standard) throws(SurfaceError) -> SurfaceSnapshot {
        try SurfaceSnapshot(json, categories: categories)
    }

    static func value(of bytes: [UInt8]) throws(SurfaceError) -> JSONValue {
        do throws(JSONError) {
            return try JSONReader.read(bytes)
        } catch {
            throw SurfaceError(.invalidJSON, "is not valid JSON: \(error)")
        }
    }

    init(_ kind: SurfaceKind, reading fields: inout FieldReader) {
        switch kind {
        case .liveActivity: self = .liveActivity(Snapshot(reading: &fields))
        case .widget: self = .widget(Snapshot(reading: &fields))
        case .control: self = .control(Snapshot(reading: &fields))
        case .lockAccessory: self = .lockAccessory(Snapshot(reading: &fields))
        case .standBy: self = .standBy(Snapshot(reading: &fields))
        case .notification: self = .notification(Snapshot(reading: &fields))
        }
    }
}

/// A surface whose content can be read from JSON.
protocol ReadableSurface: Surface {
    /// Reads every field of the surface; these calls define its fields.
    init(reading fields: inout FieldReader)
}

extension Snapshot where Content: ReadableSurface {
    init(reading fields: inout FieldReader) {
        _ = fields.required("schemaVersion", .literal(SurfaceSnapshot.schemaVersion))
        id = fields.required("id", .nonEmptyText)
        surfaceID = fields.required("surfaceId", .nonEmptyText)
        _ = fields.required("kind", .literal(Content.kind.rawValue))
        updatedAt = fields.required("updatedAt", .date)
        state = fields.required("state", .choice(standIn: .active))
        surface = fields.object(Content.kind.rawValue) { Content(reading: &$0) }
    }
}
