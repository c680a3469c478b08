// SPDX-License-Identifier: Apache-2.0

/// The route of a request in a ``RouteTable``.
package struct RouteMatch<Service: Sendable>: Sendable {
    /// The route that answers the request; nil when no route has its path and method.
    let route: Route<Service>?
    /// The values of the placeholders in the path, by name.
    package let arguments: [String: String]
    /// The method of the route, or without one those of all routes at the path, sorted.
    let methods: [String]

    /// The path of the route, with braces; nil without a route.
    package var path: String? { route?.path }

    /// Whether any route has the path of the request, for any method.
    package var isKnownPath: Bool { !methods.isEmpty }

    /// Whether the route answers with an event stream, which may never end.
    package var streamsEvents: Bool {
        route?.answers.contains { $0.type == ServerSentEvent.contentType } ?? false
    }

    /// The credentials that the route requires; nil without a route.
    package var access: RouteAccess? { route?.access }

    /// Whether the route reads the body as JSON when it is complete.
    package var readsJSON: Bool { route?.body?.type == "application/json" && !streamsBody }

    /// Whether the route reads the body while it arrives.
    package var streamsBody: Bool { route?.streamsBody ?? false }
}
