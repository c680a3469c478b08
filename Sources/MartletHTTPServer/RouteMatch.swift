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

    /// Whether the route requires no credentials.
    package var isOpen: Bool { route?.access == .anyone }

    /// The name of the action in the audit log; nil for a request that is not audited.
    package var auditAction: String? {
        if case .scope(_, let action)? = route?.access { action } else { nil }
    }

    /// Whether the route reads the body while it arrives.
    package var streamsBody: Bool { route?.streamsBody ?? false }
}
