internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of signing keys.
    static let keyRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/api/v1/keys",
            summary: "List the signing keys; without any, tokens signed by every key are accepted"
        ) {
            call in
            let keys = await call.simulator.service.judge.tokens.keys.sorted { $0.key < $1.key }
            return .json([
                "keys": .array(
                    keys.map { id, key in
                        .object(
                            [.init("key-id", .string(id)), .init("team-id", .string(key.teamID))] + key.scope.members
                        )
                    }
                )
            ])
        },
        Route(
            method: "PUT",
            path: "/api/v1/keys/{id}",
            summary: "Register a signing key by its public half",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            try await putKey(call)
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/keys/{id}",
            summary: "Remove a signing key",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let id = call.arguments["id"] ?? ""
            guard await call.simulator.service.removeKey(id) else { throw APIProblem(404, "there is no key \(id)") }
            return .done
        },
    ]

    private static func putKey(_ call: APICall) async throws(APIProblem) {
        let body = try call.object(of: ["team-id", "public-key", "environment", "topics", "related"])
        guard let teamID = try body.text("team-id"), let key = try body.text("public-key") else {
            throw APIProblem(400, "team-id or public-key is missing; get the public key in PEM with openssl ec -pubout")
        }
        let environment = try body.environment()
        let topics = try body.texts("topics").map(Topic.init(rawValue:))
        let related = try body.texts("related")
        let scope: KeyScope =
            body["topics"] == nil
            ? .team(environment)
            : .topics(Set(topics), environment ?? .development, relatedKeyIDs: Set(related))
        do throws(SimulatorError) {
            try await call.simulator.service.register(
                publicKeyPEM: key,
                keyID: call.arguments["id"] ?? "",
                teamID: teamID,
                scope: scope
            )
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }
}

extension KeyScope {
    /// The scope in the form that `PUT /api/v1/keys/{id}` takes; a key without `environment` is valid in both.
    fileprivate var members: [JSONValue.Member] {
        switch self {
        case .team(let environment):
            return environment.map { [.init("environment", .string($0.rawValue))] } ?? []
        case .topics(let topics, let environment, let related):
            return [
                .init("environment", .string(environment.rawValue)),
                .init("topics", .array(topics.map(\.rawValue).sorted().map(JSONValue.string))),
                .init("related", .array(related.sorted().map(JSONValue.string))),
            ]
        }
    }
}
