internal import APNs
internal import WebAPI

/// What happens in the simulator as server-sent events.
enum EventStream {
    /// The bytes that tell of an event; none where the query is not true of its push.
    ///
    /// Only what came in has an identifier, the push's number: whoever comes back with it misses no push.
    static func bytes(of event: SimulatorEvent, matching query: PushQuery) -> [UInt8] {
        switch event {
        case .received(let push):
            query.matches(push) ? ServerSentEvent.bytes("push", push.json, id: String(push.number)) : []
        case .changed(let push):
            query.matches(push) ? ServerSentEvent.bytes("changed", push.json) : []
        case .forgotten(let numbers):
            ServerSentEvent.bytes(
                "forgotten",
                [
                    "from": .number(JSONNumber(numbers.lowerBound)),
                    "through": .number(JSONNumber(numbers.upperBound)),
                ]
            )
        case .faultsChanged: ServerSentEvent.bytes("chaos", [:])
        case .previewsChanged: ServerSentEvent.bytes("previews", [:])
        case .trouble(let error): ServerSentEvent.bytes("trouble", ["detail": .string(error.description)])
        case .streamsRefused: []
        case .nothing: ServerSentEvent.sign
        }
    }
}
