// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The OpenAPI 3.1 description of an interface, generated from its routes.
///
/// Source: https://spec.openapis.org/oas/v3.1.1.
struct OpenAPI<Service: Sendable> {
    let title: String
    let summary: String
    let schemas: JSONValue
    let routes: [Route<Service>]

    /// The OpenAPI document.
    var document: JSONValue {
        var paths: [JSONValue.Member] = []
        for route in routes {
            let operation = JSONValue.Member(route.method.lowercased(), self.operation(route))
            if let index = paths.firstIndex(where: { $0.name == route.path }) {
                paths[index].value = .object((paths[index].value.members ?? []) + [operation])
            } else {
                paths.append(JSONValue.Member(route.path, .object([operation])))
            }
        }
        var components: [JSONValue.Member] = [
            .init("schemas", .object([.init("Problem", OpenAPI.problemSchema)] + (schemas.members ?? []))),
            .init("responses", .object(problemStatuses.map { .init("Problem\($0)", OpenAPI.problem($0)) })),
        ]
        if routes.contains(where: { $0.access != .anyone }) {
            components.append(.init("securitySchemes", ["key": ["type": "http", "scheme": "bearer"]]))
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": .string(title), "description": .string(summary), "version": .string(MartletVersion.current),
            ],
            "paths": .object(paths), "components": .object(components),
        ]
    }

    private var problemStatuses: [Int] { Set(routes.flatMap(problems)).sorted() }

    private func problems(of route: Route<Service>) -> [Int] {
        var statuses = Set(route.problems)
        if route.access != .anyone { statuses.formUnion([401, 403]) }
        if route.body != nil { statuses.formUnion([400, 413]) }
        // No route has a path that is too long.
        if !route.pattern.placeholders.isEmpty { statuses.insert(404) }
        // Every route rejects unknown query parameters.
        statuses.insert(400)
        return statuses.sorted()
    }

    private func operation(_ route: Route<Service>) -> JSONValue {
        let (description, security): (JSONValue?, JSONValue) =
            switch route.access {
            case .anyone: (nil, [])
            case .scope(let scope, _): (.string("Needs a key with the scope `\(scope)`."), [["key": [.string(scope)]]])
            case .ownCredential(let credential): (.string("Needs \(credential), as a bearer token."), [["key": []]])
            }
        let declared = route.parameters
        let inPath = route.pattern.placeholders.map { name in
            declared.first { $0.location == .path && $0.name == name }
                ?? RouteParameter(.path, name: name, summary: "A part of the path")
        }
        let parameters = inPath + declared.filter { $0.location != .path }
        let answers = route.answers.map { JSONValue.Member(String($0.status), answer($0)) }
        let problems = problems(of: route).map { status in
            JSONValue.Member(String(status), ["$ref": .string("#/components/responses/Problem\(status)")])
        }
        return .members([
            "operationId": .string(name(of: route)), "summary": .string(route.summary), "description": description,
            "security": security, "parameters": parameters.isEmpty ? nil : .array(parameters.map(parameter)),
            "requestBody": route.body.map(body), "responses": .object(answers + problems),
        ])
    }

    /// Returns a name for generated code: the method and the words of the path.
    private func name(of route: Route<Service>) -> String {
        let words = route.path.split { !$0.isLetter && !$0.isNumber }
        return ([route.method.lowercased()[...]] + words).joined(separator: "_")
    }

    private func parameter(_ parameter: RouteParameter) -> JSONValue {
        [
            "name": .string(parameter.name), "in": .string(parameter.location.rawValue),
            "description": .string(parameter.summary), "required": .bool(parameter.isRequired),
            "schema": parameter.schema,
        ]
    }

    private func body(_ body: RouteBody) -> JSONValue {
        let examples = body.examples.map { JSONValue.Member($0.name, ["value": $0.value]) }
        let content = JSONValue.members(["schema": body.schema, "examples": examples.isEmpty ? nil : .object(examples)])
        return ["required": .bool(body.isRequired), "content": [body.type: content]]
    }

    private func answer(_ answer: RouteAnswer) -> JSONValue {
        let fields = answer.fields.map { field in
            JSONValue.Member(field.name, ["description": .string(field.summary), "schema": ["type": "string"]])
        }
        return .members([
            "description": .string(answer.summary), "headers": fields.isEmpty ? nil : .object(fields),
            "content": answer.type.map { [$0: .members(["schema": answer.schema])] },
        ])
    }

    private static var problemSchema: JSONValue {
        let error: JSONValue = [
            "type": "object", "required": ["pointer", "detail"],
            "properties": [
                "pointer": ["type": "string", "description": "JSON pointer (RFC 6901) to the member of the body"],
                "detail": ["type": "string"],
            ],
        ]
        return [
            "type": "object", "description": "A problem in the format of RFC 9457", "required": ["status", "detail"],
            "properties": [
                "status": ["type": "integer", "description": "The HTTP status, also of one line of a batch"],
                "detail": ["type": "string", "description": "What is wrong, and what to do"],
                "retry-after": ["type": "integer", "minimum": 0, "description": "Seconds to wait before a retry"],
                "errors": ["type": "array", "items": error],
            ],
        ]
    }

    private static func problem(_ status: Int) -> JSONValue {
        let description =
            switch status {
            case 400: "The request is invalid; the problem names the error"
            case 401: "The key is missing or invalid"
            case 403: "The key does not permit the request"
            case 404: "Not found"
            case 408: "The body did not arrive in time"
            case 409: "The state of the push does not allow it, or the request is ambiguous"
            case 410: "The device token is no longer registered"
            case 412: "The condition of If-Match or If-None-Match is not met"
            case 413: "The body is too long"
            case 422: "Another push has the same identifier"
            case 429: "Too many requests"
            case 501: "Not available over this connection"
            case 502: "Apple did not answer, or answered with an error"
            case 503: "Temporarily unavailable; retry after the given time"
            default: "A problem"
            }
        var members: [JSONValue.Member] = [.init("description", .string(description))]
        if status == 503 || status == 429 {
            let field: JSONValue = ["description": "Seconds to wait before a retry", "schema": ["type": "integer"]]
            members.append(.init("headers", ["retry-after": field]))
        }
        members.append(.init("content", ["application/problem+json": ["schema": .schema("Problem")]]))
        return .object(members)
    }
}
