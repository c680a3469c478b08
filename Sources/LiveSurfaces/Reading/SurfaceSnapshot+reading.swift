public import APNs

extension SurfaceSnapshot {
    /// A snapshot from JSON text that came from outside, held to every rule of the contract.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8; at most 4 MiB, nested at most 64 levels deep.
    ///   - categories: The notification categories that the app knows.
    /// - Throws: ``SurfaceError`` with everything that is wrong.
    public init(parsing bytes: [UInt8], categories: NotificationCategories = .standard) throws(SurfaceError) {
        try self.init(SurfaceSnapshot.value(of: bytes), categories: categories)
    }

    /// A snapshot from a JSON value, held to every rule of the contract.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - categories: The notification categories that the app knows.
    /// - Throws: ``SurfaceError`` with everything that is wrong.
    public init(_ json: JSONValue, categories: NotificationCategories = .standard) throws(SurfaceError) {
        guard let members = json.members else { throw SurfaceError(.invalidType, json.isNot("an object")) }
        guard let kind = json["kind"]?.stringValue.flatMap(SurfaceKind.init(rawValue:)) else {
            let kinds = SurfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw SurfaceError(.invalidUnion, at: ["kind"], "must be one of \(kinds)")
        }
        var reader = FieldReader(members, categories: categories)
        self.init(kind, reading: &reader)
        reader.finish()
        guard reader.issues.isEmpty else { throw SurfaceError(reader.issues) }
    }

    /// The same snapshot, held to every rule of the contract: what a program has put together may break some.
    ///
    /// - Parameter categories: The notification categories that the app knows.
    /// - Returns: The snapshot.
    /// - Throws: ``SurfaceError`` with everything that is wrong.
    public func validated(categories: NotificationCategories = .standard) throws(SurfaceError) -> SurfaceSnapshot {
        try SurfaceSnapshot(json, categories: categories)
    }

    /// A JSON value from text.
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

/// A surface that can be read.
protocol ReadableSurface: Surface {
    /// Reads every field the surface has; what it asks for is what there is.
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
