internal import APNs

/// Events in the words of server-sent events (WHATWG HTML, section 9.2).
enum EventStream {
    /// The bytes that tell of an event; none where the query is not true of its push.
    ///
    /// Only what came in has an identifier, the push's number: whoever comes back with it misses no push.
    static func bytes(of event: SimulatorEvent, matching query: PushQuery) -> [UInt8] {
        switch event {
        case .received(let push):
            query.matches(push) ? bytes("push", push.json, id: push.number) : []
        case .changed(let push):
            query.matches(push) ? bytes("changed", push.json) : []
        case .forgotten(let numbers):
            bytes(
                "forgotten",
                [
                    "from": .number(JSONNumber(numbers.lowerBound)),
                    "through": .number(JSONNumber(numbers.upperBound)),
                ]
            )
        case .faultsChanged: bytes("chaos", [:])
        case .previewsChanged: bytes("previews", [:])
        case .trouble(let error): bytes("trouble", ["detail": .string(error.description)])
        case .nothing: Array(": still there\n\n".utf8)
        }
    }

    private static func bytes(_ name: String, _ value: JSONValue, id: Int? = nil) -> [UInt8] {
        let id = id.map { "id: \($0)\n" } ?? ""
        // Encoded JSON has no line breaks.
        return Array("event: \(name)\n\(id)data: ".utf8) + value.encoded() + Array("\n\n".utf8)
    }
}
