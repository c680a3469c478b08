// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

extension SimulatorEvent {
    /// Returns the event as server-sent event; empty when the query does not match its push.
    ///
    /// Only the event of a received push has an identifier, the number of the push: a client that reconnects with it as
    /// `Last-Event-ID` misses no stored push.
    func bytes(matching query: PushQuery, _ view: PushView = .full) -> [UInt8] {
        switch self {
        case .received(let push):
            query.matches(push) ? ServerSentEvent.bytes("push", push.json(view), id: String(push.number)) : []
        case .changed(let push):
            query.matches(push) ? ServerSentEvent.bytes("changed", push.json(view)) : []
        case .forgotten(let numbers):
            ServerSentEvent.bytes(
                "forgotten",
                ["from": .integer(numbers.lowerBound), "through": .integer(numbers.upperBound)]
            )
        case .faultsChanged: ServerSentEvent.bytes("chaos", [:])
        case .devicesChanged: ServerSentEvent.bytes("devices", [:])
        case .previewsChanged: ServerSentEvent.bytes("previews", [:])
        case .archiveFailed(let error): ServerSentEvent.bytes("trouble", ["detail": .string(error.description)])
        case .reported, .noticed: []
        // A browser does not pass comments in the stream to the page.
        case .keepAlive: ServerSentEvent.bytes("alive", [:])
        }
    }

    /// The event as server-sent event for a reader of reports; empty for an event that is not for it.
    var reportBytes: [UInt8] {
        switch self {
        case .reported(let report): ServerSentEvent.bytes("report", report.json, id: String(report.number))
        case .keepAlive: ServerSentEvent.bytes("alive", [:])
        default: []
        }
    }
}
