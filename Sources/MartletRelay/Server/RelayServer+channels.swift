// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletServer

/// Requests about broadcast channels over the APNs protocol.
extension RelayServer {
    /// Forwards a request about channels to Apple and returns Apple's answer; nothing is stored.
    func forwardToApple(_ pending: PendingRequest, _ lane: Lane, _ bundle: String, isList: Bool) {
        let request = pending.request
        guard let client = dispatcher.assumeIsolated({ $0.clients[lane]?.client }) else {
            return finish(pending, .rejected(.topicMismatch))
        }
        let channel = request.channelID.map { ChannelID($0) }
        let id = request.ownID.flatMap { try? APNsID($0, allowsUpperCase: true) } ?? pending.freshID
        let target = RequestTarget.channels(method: request.method, bundle: bundle, channel, isList: isList)
        Task {
            let response: APNsResponse
            do throws(APNsError) {
                response = APNsResponse(try await client.forward(to: target, id: id, body: request.body))
            } catch {
                response = APNsResponse(error)
            }
            if request.method != "GET", let caller = pending.caller {
                context.log.audit(AuditEntry(request, lane, from: caller, peer: pending.connection.peer, response))
            }
            finish(pending, response)
        }
    }
}
