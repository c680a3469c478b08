internal import APNs
internal import Wire

/// An answer of APNs that is no refusal, before anybody has looked at what it says.
struct Acceptance: Sendable {
    var fields: HTTPFields = [:]
    var body: [UInt8] = []
    /// How many times the request was sent.
    var attempts = 1
    /// Tries before the last that were sent and not answered.
    var unknownTries = 0
    /// Where the time went.
    var timing = SendTiming()

    /// The request's identifier, as APNs returned it or, when it returned none, as it was sent.
    func id(or sent: APNsID) -> APNsID {
        let text = fields.bytes(of: "apns-id") ?? fields.bytes(of: "apns-request-id")
        return text.flatMap { try? APNsID(utf8: $0) } ?? sent
    }
}
