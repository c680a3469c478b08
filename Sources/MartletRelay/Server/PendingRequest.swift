// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletServer

/// A request over the APNs protocol that is not answered yet; used only on the event loop.
struct PendingRequest {
    var request: APNsRequest
    /// The identifier of the push if the client has chosen none.
    let freshID: APNsID
    let caller: Callers.Caller?
    let connection: RelayConnection
    let environment: PushEnvironment
    let reply: APNsReply
    let start: ContinuousClock.Instant
    /// The names of the rules that the headers of a stored push break.
    var notes: [String] = []
}

/// The requests whose pushes are being stored or have no outcome yet.
///
/// The intake receives their numbers, so that they never leave the actor of the connections.
struct PendingRequests {
    private var requests: [Int: PendingRequest] = [:]
    private var next = 0

    /// Stores a request and returns its number.
    mutating func add(_ request: PendingRequest) -> Int {
        next += 1
        requests[next] = request
        return next
    }

    mutating func take(_ number: Int) -> PendingRequest? { requests.removeValue(forKey: number) }
}
