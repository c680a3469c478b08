internal import Wire

/// One thing that the HTTP interface can be asked.
struct Route: Sendable {
    /// A parameter after the `?`.
    struct Parameter: Sendable {
        var name: String
        var summary: String
    }

    var method: String
    /// The path; a part in braces stands for any text.
    var path: String
    var summary: String
    var parameters: [Parameter] = []
    var answer: @Sendable (APICall) async throws(APIProblem) -> HTTP1Answer

    /// The texts in place of the parts in braces; nil for another path.
    func arguments(of path: Substring) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let own = self.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == own.count else { return nil }
        var arguments: [String: String] = [:]
        for (part, name) in zip(parts, own) {
            if name.hasPrefix("{") {
                guard !part.isEmpty else { return nil }
                arguments[String(name.dropFirst().dropLast())] = String(part)
            } else if part != name {
                return nil
            }
        }
        return arguments
    }
}
