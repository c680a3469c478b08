public import APNs

/// The contract as a JSON Schema (draft 2020-12), for tools in other languages.
///
/// It is told by the same code that reads snapshots. One thing it cannot say: the parser counts UTF-16 code units
/// where a schema counts characters, so a `shortText` with emoji may pass here and be too long there.
public enum SurfaceSchema {
    /// The schema of a snapshot of any kind.
    ///
    /// - Parameter categories: The notification categories that the app knows.
    /// - Returns: The schema.
    public static func document(categories: NotificationCategories = .standard) -> JSONValue {
        let branches = SurfaceKind.allCases.map { kind in
            var reader = FieldReader(recordingFor: categories)
            _ = SurfaceSnapshot(kind, reading: &reader)
            return reader.objectSchema
        }
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "SurfaceSnapshot",
            "description": .string("What one surface of an app shows, version \(SurfaceSnapshot.schemaVersion)."),
            "oneOf": .array(branches),
        ]
    }
}
