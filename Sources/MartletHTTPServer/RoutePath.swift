// SPDX-License-Identifier: Apache-2.0

/// The path of a route, split once: requests are compared with it byte by byte.
struct RoutePath: Sendable {
    /// A part between slashes.
    private enum Part {
        case text(String)
        case placeholder(name: String)
    }

    /// The path as it is declared, with braces.
    let text: String
    private let parts: [Part]

    /// Creates a path from its text; a part in braces is a placeholder for any text.
    init(_ path: String) {
        text = path
        parts = path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") ? .placeholder(name: String(part.dropFirst().dropLast())) : .text(String(part))
        }
    }

    /// The names of the placeholders, in the order of the path.
    var placeholders: [String] {
        parts.compactMap { part in
            if case .placeholder(let name) = part { name } else { nil }
        }
    }

    /// Returns the values of the placeholders by name; nil when the parts of a request's path do not match.
    func arguments(of requested: [Substring.UTF8View]) -> [String: String]? {
        guard requested.count == parts.count else { return nil }
        var arguments: [String: String] = [:]
        for (bytes, part) in zip(requested, parts) {
            switch part {
            case .text(let text):
                guard bytes.elementsEqual(text.utf8) else { return nil }
            case .placeholder(let name):
                guard !bytes.isEmpty else { return nil }
                arguments[name] = String(Substring(bytes))
            }
        }
        return arguments
    }
}
