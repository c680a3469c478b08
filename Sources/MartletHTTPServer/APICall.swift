// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletTransport

/// A request to an HTTP interface, with its route.
package struct APICall<Service: Sendable>: Sendable {
    /// The service that answers the request.
    package let service: Service
    /// The values of the placeholders in the path, by name.
    package let arguments: [String: String]
    private let query: [(name: String, value: String)]
    /// The request's fields.
    package let fields: HTTPFields
    /// The request's body; empty when it is in ``stream``.
    package let body: [UInt8]
    /// The body, for a route that reads it while it arrives; nil when it is in ``body``.
    package let stream: HTTP1Body?
    /// The body as JSON, if it was parsed before the route was called.
    private let content: Result<JSONValue, JSONError>?

    init(
        _ request: HTTPRequest,
        _ stream: HTTP1Body?,
        _ content: Result<JSONValue, JSONError>?,
        _ route: Route<Service>,
        arguments: [String: String],
        _ service: Service
    ) throws(APIProblem) {
        self.service = service
        self.arguments = arguments
        query = request.query
        fields = request.fields
        body = request.body
        self.stream = stream
        self.content = content
        var seen: Set<String> = []
        for (name, _) in query {
            let parameters = route.parameters.filter { $0.location == .query }
            guard parameters.contains(where: { $0.name == name }) else {
                let known = parameters.map(\.name).joined(separator: ", ")
                throw APIProblem(400, "unknown parameter \(ShownValue(name)); known: \(known.isEmpty ? "none" : known)")
            }
            guard seen.insert(name).inserted else {
                throw APIProblem(400, "the parameter \(name) must be given only once")
            }
        }
    }

    /// Returns the text of a query parameter; nil when it is missing.
    package func text(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// Returns a whole number within bounds from a query parameter, or the default when it is missing.
    package func number(_ name: String, _ range: ClosedRange<Int>, default standard: Int) throws(APIProblem) -> Int {
        guard let text = text(name) else { return standard }
        guard let number = Int(text), String(number) == text, range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw APIProblem(400, "\(name) must be a whole number \(bounds) (found \(ShownValue.quoted(text)))")
        }
        return number
    }

    /// Returns a Boolean from a query parameter; false when it is missing.
    package func flag(_ name: String) throws(APIProblem) -> Bool {
        switch text(name) {
        case nil, "false": false
        case "true": true
        case let text?: throw APIProblem(400, "\(name) must be true or false (found \(ShownValue.quoted(text)))")
        }
    }

    /// Returns the device token in the path.
    package func deviceToken() throws(APIProblem) -> DeviceToken {
        let name = arguments["token"] ?? ""
        do throws(DeviceTokenError) {
            return try DeviceToken(hex: name)
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }

    /// Returns the body as JSON.
    package func json() throws(APIProblem) -> JSONValue { try json(of: body, content) }

    /// Returns a body that was read from ``stream`` as JSON.
    package func json(of body: [UInt8]) throws(APIProblem) -> JSONValue { try json(of: body, nil) }

    private func json(of body: [UInt8], _ content: Result<JSONValue, JSONError>?) throws(APIProblem) -> JSONValue {
        do throws(JSONError) {
            if let content { return try content.get() }
            return try JSONReader.read(body)
        } catch {
            throw APIProblem(400, "the body \(error.rule): \(error)")
        }
    }

    /// Returns the body as a JSON object, which may only have these members.
    package func object(of names: [String]) throws(APIProblem) -> JSONField<APIProblem> {
        let body = JSONField<APIProblem>(try json(), named: "the body")
        try body.checkMembers(names)
        return body
    }
}
