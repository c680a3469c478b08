// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletServer
internal import MartletTransport

/// The JSON API over HTTP/2, on the listeners of the APNs protocol.
extension RelayServer {
    /// Answers a request that is not part of the APNs protocol.
    func answerJSON(
        _ request: HTTPRequest,
        _ match: RelayAPI.Match,
        from client: ClientConnection,
        _ reply: APNsReply
    ) {
        guard let api else { return reply.send(APIProblem(503, "the relay is shutting down").response) }
        // Once the client is known, the callers of its requests are identified by the task, and not on the loop.
        let identification = client.isAuthenticated ? nil : api.identify(request, match, from: client.peer)
        if identification?.isKnown ?? false { client.authenticated() }
        let peer = client.peer
        Task {
            await answer(request, match, from: peer, identification, reply, with: RelayAPI(api.parts, over: .listen))
        }
    }

    private func answer(
        _ request: HTTPRequest,
        _ match: RelayAPI.Match,
        from peer: String,
        _ identification: RelayAPI.Identification?,
        _ reply: APNsReply,
        with api: RelayAPI
    ) async {
        switch await api.answer(request, match, from: peer, identification) {
        case .whole(let response): reply.send(response)
        case .pieces(let fields, let pieces) where !match.streamsEvents:
            var body: [UInt8] = []
            for await piece in pieces { body += piece }
            reply.send(HTTPResponse(status: 200, fields: fields, body: body))
        case .pieces:
            reply.send(APIProblem(501, "event streams require HTTP/1.1: use the address of http").response)
        }
    }
}
