internal import MartletCore
internal import MartletHTTPServer

/// The encoding of the simulator's events as server-sent events.
enum EventStream {
    /// Returns the bytes of an event; empty when the query does not match its push.
    ///
    /// Only the event of a received push has an identifier, the number of the push: a client that reconnects with it as
    /// `Last-Event-ID` misses no stored push.
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
