// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletHTTPServer

extension ActivityContract {
    /// Creates a contract from JSON of the HTTP interface: `topic` and `attributes-type` are strings; `content-state`
    /// and `attributes`, which is optional, are schemas.
    ///
    /// - Parameter json: The contract.
    /// - Throws: ``ActivityContractError`` with the name of a member that is missing, unknown or not a valid schema.
    public init(json: JSONValue) throws(ActivityContractError) {
        do throws(APIProblem) {
            let contract = APIField(json, named: "the contract")
            try contract.checkMembers(["topic", "attributes-type", "content-state", "attributes"])
            let contentState = try ActivityContract.schema(contract["content-state"])
            self.init(
                topic: Topic(try contract["topic"].nonemptyText()),
                attributesType: try contract["attributes-type"].nonemptyText(),
                contentState: contentState,
                attributes: try contract["attributes"].ifPresent.map(ActivityContract.schema)
            )
        } catch {
            throw ActivityContractError(error.detail)
        }
    }

    /// The contract as the HTTP interface returns it; a contract of Swift types names the type as `decoded-by`.
    public var json: JSONValue {
        .object(of: [
            "topic": topic.rawValue, "attributes-type": attributesType, "content-state": contentStateSchema?.json,
            "attributes": attributesSchema?.json, "decoded-by": decodingType,
        ])
    }

    private static func schema(_ field: APIField) throws(APIProblem) -> JSONSchema {
        guard let value = field.value else { throw field.mismatch("a JSON Schema") }
        do throws(JSONSchemaError) {
            return try JSONSchema(value)
        } catch {
            throw APIProblem("\(field.path): \(error)", at: field.path)
        }
    }
}
