// SPDX-License-Identifier: Apache-2.0

/// The parts of the inbox that belong to one test each, so that many tests can share a simulator, without I/O or a
/// clock.
///
/// A push belongs to the namespace in its header `x-martlet-namespace`, whether or not that exists, or else to the
/// namespace whose name its device token begins with.
struct Namespaces {
    /// A namespace.
    struct Namespace: Sendable, Hashable {
        /// Eight hexadecimal digits, so that device tokens can begin with it.
        let name: String
        /// The time at which it ends, in milliseconds since 1970.
        let end: Int64
    }

    /// The number of characters of a name.
    private static let nameLength = 8
    /// The maximum number of namespaces.
    private static let limit = 10_000

    private var list: [String: Namespace] = [:]

    /// Removes the namespaces whose time is over; returns their names.
    mutating func removeEnded(at now: Int64) -> Set<String> {
        let ended = Set(list.values.filter { $0.end <= now }.map(\.name))
        for name in ended { list[name] = nil }
        return ended
    }

    /// Creates a namespace that lasts a number of seconds; returns nil when the limit is reached.
    mutating func make(
        lasting seconds: Int,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Namespace? {
        guard list.count < Namespaces.limit else { return nil }
        var name = ""
        repeat {
            let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
            name = String(repeating: "0", count: Namespaces.nameLength - digits.count) + digits
        } while list[name] != nil
        let namespace = Namespace(name: name, end: now + Int64(millisecondsOf: Int64(seconds)))
        list[name] = namespace
        return namespace
    }

    /// Removes a namespace; returns whether it existed.
    mutating func remove(_ name: String) -> Bool {
        list.removeValue(forKey: name) != nil
    }

    /// Returns the namespace of a push with this header and device token; nil for none.
    func namespace(header: String?, deviceToken: String) -> String? {
        if let header { return header }
        guard !list.isEmpty else { return nil }
        return list[deviceToken.prefix(Namespaces.nameLength).lowercased()]?.name
    }
}
