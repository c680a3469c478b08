// SPDX-License-Identifier: Apache-2.0

/// The state of a client that the decisions about its requests depend on.
struct ClientState {
    /// The state of the connection that the evaluator uses.
    var connection = RequestEvaluator.ConnectionState()
    /// Whether the client may open the full number of streams, instead of the initial one.
    var hasAllStreams = false
    /// The number of accepted pushes from the client.
    var acceptedCount = 0
    /// The number of 4xx answers other than 410, after too many of which APNs closes the connection; `BadDeviceToken`
    /// counts twice.
    var errorCount = 0
    /// Whether a fault has sent the GOAWAY frame that follows too many errors.
    var hasTooManyErrors = false
    /// The maximum number of streams that a fault has set for the connection; nil for none.
    var faultStreamLimit: UInt32?

    /// The state of the inbox page, which opens no connections, so that it cannot break the rule about too many of
    /// them.
    static let page: ClientState = {
        var state = ClientState()
        state.acceptedCount = 1
        return state
    }()
}
