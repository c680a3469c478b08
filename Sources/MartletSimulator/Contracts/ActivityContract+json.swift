public import MartletCore

extension ActivityContract {
    /// The members of a contract in the HTTP interface.
    private static let names = ["topic", "attributes-type", "content-state", "attributes"]

    /// Creates a contract from JSON of the HTTP interface: `topic` and `attributes-type` are strings; `content-state`
    /// and `attributes`, which is optional, are schemas.
    ///
    /// - Parameter json: The contract.
    /// - Throws: ``ActivityContractError`` with the name of a member that is missing, unknown or not a valid schema.
    public init(json: JSONValue) throws(ActivityContractError) {
        guard let members = json.members else { throw ActivityContractError("a contract must be a JSON object") }
        if let unknown = members.first(where: { !ActivityContract.names.contains($0.name) }) {
            let known = ActivityContract.names.joined(separator: ", ")
            throw ActivityContractError("unknown member \(unknown.name); known: \(known)")
        }
        guard let state = try ActivityContract.schema("content-state", of: json) else {
            throw ActivityContractError("content-state is missing: give the JSON Schema of the app's ContentState")
        }
        self.init(
            topic: Topic(try ActivityContract.text("topic", of: json)),
            attributesType: try ActivityContract.text("attributes-type", of: json),
            contentState: state,
            attributes: try ActivityContract.schema("attributes", of: json)
        )
    }

    /// The contract as the HTTP interface returns it; a contract of Swift types names the type as `decoded-by`.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("topic", .string(topic.rawValue)), .init("attributes-type", .string(attributesType)),
        ]
        if let contentStateSchema { members.append(.init("content-state", contentStateSchema.json)) }
        if let attributesSchema { members.append(.init("attributes", attributesSchema.json)) }
        if let decodingType { members.append(.init("decoded-by", .string(decodingType))) }
        return .object(members)
    }

    private static func text(_ name: String, of json: JSONValue) throws(ActivityContractError) -> String {
        guard let text = json[name]?.stringValue, !text.isEmpty else {
            throw ActivityContractError("\(name) must be a non-empty string")
        }
        return text
    }

    private static func schema(_ name: String, of json: JSONValue) throws(ActivityContractError) -> JSONSchema? {
        guard let value = json[name] else { return nil }
        do throws(JSONSchemaError) {
            return try JSONSchema(value)
        } catch {
            throw ActivityContractError("\(name): \(error)")
        }
    }
}
