// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of signing keys.
    static let keyRoutes: [Route] = [
        Route("GET", "/api/v1/keys", "List the signing keys; without any, tokens signed by every key are accepted") {
            call in
            let keys = await call.simulator.service.evaluator.tokens.keys.sorted { $0.key < $1.key }
            return .json(["keys": .array(keys.map { id, key in key.json(id: id) })])
        },
        Route.action("PUT", "/api/v1/keys/{id}", "Register a signing key by its public half", perform: putKey),
        Route.action("DELETE", "/api/v1/keys/{id}", "Remove a signing key") { (call) throws(APIProblem) in
            let id = call.argument("id")
            guard await call.simulator.forgetKey(id) else { throw .missing("there is no key \(ShownValue(id))") }
        },
    ]

    @Sendable private static func putKey(_ call: APICall) async throws(APIProblem) {
        let body = try call.object(of: ["team-id", "public-key", "environment", "topics", "related"])
        guard body["team-id"].isPresent, body["public-key"].isPresent else {
            throw APIProblem(400, "team-id or public-key is missing; get the public key in PEM with openssl ec -pubout")
        }
        let (teamID, key) = (try body["team-id"].text(), try body["public-key"].text())
        let environment = try body["environment"].ifPresent?.choice(of: SimulatedAPNs.Environment.self)
        let topics = try body["topics"].ifPresent?.texts().map(Topic.init(rawValue:))
        let related = try body["related"].ifPresent?.texts() ?? []
        let scope =
            topics.map {
                SimulatedAPNs.KeyScope.topics(Set($0), environment ?? .development, relatedKeyIDs: Set(related))
            }
            ?? .team(environment)
        do throws(SimulatorError) {
            try await call.simulator.register(key, keyID: call.argument("id"), teamID: teamID, scope: scope)
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }
}

extension ProviderTokenVerifier.Key {
    /// Returns the key in the form that `PUT /api/v1/keys/{id}` takes; a key without `environment` is valid in both.
    fileprivate func json(id: String) -> JSONValue {
        let identity: [JSONValue.Member] = [.init("key-id", .string(id)), .init("team-id", .string(teamID))]
        let limits: JSONValue =
            switch scope {
            case .team(let environment): .members(["environment": environment.map { .string($0.rawValue) }])
            case .topics(let topics, let environment, let related):
                [
                    "environment": .string(environment.rawValue), "topics": .strings(topics.map(\.rawValue).sorted()),
                    "related": .strings(related.sorted()),
                ]
            }
        return .object(identity + (limits.members ?? []))
    }
}
