import APNsClient
import Commands

/// The answer to one push, for people and for programs.
struct PushAnswer {
    /// The destination as programs need it: `device-token` or `channel`.
    let destination: JSONValue.Member
    let receipt: PushReceipt

    /// The answer for programs.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            destination, .init("status", 200), .init("apns-id", .string(receipt.id.description)),
        ]
        if let uniqueID = receipt.uniqueID { members.append(.init("apns-unique-id", .string(uniqueID))) }
        return .object(members)
    }

    /// The answer for people.
    var text: String { "200 accepted as \(receipt.id)\n" }
}
