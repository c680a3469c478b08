// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The relay's description of its interface, `/openapi.json`, against the interface itself.
@Suite(.timeLimit(.minutes(10))) struct RelayDescriptionTests {
    private func document() async throws -> JSONValue {
        let bench = try await RelayBench()
        let answer = await bench.ask("GET", "/openapi.json", key: nil)
        #expect(answer.status == 200)
        await bench.stop()
        return answer.json
    }

    private static func references(in value: JSONValue) -> [String] {
        let own = value["$ref"]?.stringValue.map { [$0] } ?? []
        let inner = (value.elements ?? []) + (value.members ?? []).map(\.value)
        return own + inner.flatMap(references)
    }

    private static func names(_ value: JSONValue?) -> Set<String> {
        Set((value?.elements ?? []).compactMap(\.stringValue))
    }

    @Test func `every reference of the description has a target`() async throws {
        let document = try await document()
        let references = Set(Self.references(in: document))
        #expect(references.count > 20)
        for reference in references {
            let parts = reference.split(separator: "/").dropFirst().map(String.init)
            let target = parts.reduce(document as JSONValue?) { $0?[$1] }
            #expect(target != nil, "\(reference)")
        }
        let schemas = document["components"]?["schemas"]?.members?.map(\.name) ?? []
        #expect(schemas.allSatisfy { references.contains("#/components/schemas/" + $0) }, "one is referred to nowhere")
    }

    @Test func `every route is described with its answers, and those that read a body with its schema`() async throws {
        let document = try await document()
        for route in RelayAPI.routes {
            let operation = document["paths"]?[route.path]?[route.method.lowercased()]
            #expect(operation?["responses"]?.members?.isEmpty == false, "\(route.method) \(route.path)")
            #expect((operation?["requestBody"] != nil) == (route.body != nil))
            for answer in route.answers where answer.type != nil {
                #expect(answer.schema != nil, "\(route.method) \(route.path): \(answer.status)")
            }
        }
        let identifiers = (document["paths"]?.members ?? []).flatMap { path in
            (path.value.members ?? []).compactMap { $0.value["operationId"]?.stringValue }
        }
        #expect(Set(identifiers).count == RelayAPI.routes.count)
    }

    @Test func `the schemas have the members and words of the code`() async throws {
        let schemas = try await document()["components"]?["schemas"]
        let order = schemas?["PushRequest"]?["properties"]
        #expect(order?.members?.map(\.name) == PushRequest.members)
        #expect(Self.names(order?["push-type"]?["enum"]) == Set(PushType.all.map(\.rawValue)))
        #expect(Self.names(order?["environment"]?["enum"]) == Set(PushEnvironment.allCases.map(\.rawValue)))
        #expect(Self.names(order?["event"]?["enum"]) == Set(SnapshotRequest.events))
        #expect(order?["stale-date"]?["maximum"]?.integerValue == PushLint.latestPlausibleTime)
        #expect(order?["expiration"]?["maximum"]?.integerValue == PushLint.latestPlausibleTime)
        #expect(order?["to"]?["oneOf"]?.elements?.last?["maxItems"]?.integerValue == Int64(PushRequest.longestList))
        for (schema, others) in [
            ("EnrollmentRequest", ["replaces"]), ("InstallationReport", []), ("InstallationChange", ["tags"]),
        ] {
            let members = schemas?[schema]?["properties"]
            #expect(members?.members?.map(\.name) == InstallationReader.appMembers + others)
            let tokens = members?["tokens"]?["properties"]?.members?.map(\.name)
            #expect(tokens == InstallationReader.tokenMembers.map(\.name))
            let permissions = members?["permissions"]?["properties"]?.members?.map(\.name)
            #expect(permissions == Installation.Permission.allCases.map(\.rawValue))
        }
        let imported = schemas?["ImportedInstallation"]?["properties"]?.members?.map(\.name) ?? []
        let importMembers =
            InstallationReader.appMembers + InstallationReader.ignoredMembers + ["app", "id", "user", "tags"]
        #expect(imported.sorted() == importMembers.sorted())
        let surface = schemas?["SurfaceRequest"]?["properties"]?.members?.map(\.name)
        #expect(surface == SurfaceRequest.members)
        let states = Self.names(schemas?["PushStatus"]?["properties"]?["state"]?["enum"])
        #expect(states == Set(Outcome.State.allCases.map(\.rawValue) + ["accepted", "in-flight"]))
    }

    @Test func `a route needs the scope that its description names`() async throws {
        let bench = try await RelayBench {
            for scope in RelayConfiguration.Caller.Scope.allCases {
                let others = Set(RelayConfiguration.Caller.Scope.allCases).subtracting([scope])
                guard
                    let caller = try? RelayConfiguration.Caller(
                        key: "all but " + scope.rawValue,
                        apps: ["orders", "rides"],
                        scopes: others
                    )
                else { return }
                $0.callers.append(caller)
            }
        }
        for route in RelayAPI.routes {
            let path = route.path.replacing("{app}", with: "orders").replacing("{token}", with: "dead00ff")
                .replacing("{id}", with: "123e4567-e89b-42d3-a456-426655440000").replacing("{node}", with: "1")
                .replacing("{environment}", with: "production").replacing("{user}", with: "anna")
            let (key, status): (String?, Int) =
                switch route.access {
                case .anyone: (nil, 200)
                case .scope(let scope, _): ("all but " + scope, 403)
                case .ownCredential: (RelayBench.callerKey, 401)
                }
            let answer = await bench.ask(route.method, path, #"{"to":"5d3a6a1c","payload":{}}"#, key: key)
            #expect(answer.status == status, "\(route.method) \(path): \(answer.text)")
        }
        await bench.stop()
    }

    @Test func `the answer to another method has the allowed methods`() async throws {
        let bench = try await RelayBench()
        let request = HTTPRequest(
            method: "PUT",
            scheme: "http",
            authority: "localhost",
            target: "/v1/pushes",
            fields: ["authorization": "bearer " + RelayBench.callerKey]
        )
        guard case .whole(let response) = await RelayAPI(bench.relay.parts).answer(request) else { return }
        #expect(response.status == 405 && response.fields["allow"] == "GET, POST")
        await bench.stop()
    }
}
