/// Parts of the inbox that belong to one test each, so that many can share a simulator: a struct without I/O or a
/// clock.
///
/// A push belongs to the namespace that its header `x-martlet-namespace` names, whatever that is, or else to the one
/// whose name its device token begins with.
struct Namespaces {
    /// One of them.
    struct Namespace: Sendable, Hashable {
        /// Eight hexadecimal digits, so that device tokens can begin with it.
        let name: String
        /// When it ends, in seconds since 1970.
        let end: Int64
    }

    /// Characters of a name.
    private static let nameLength = 8
    /// Namespaces at once.
    private static let limit = 10_000

    private var list: [String: Namespace] = [:]

    /// Ends those whose time is over.
    ///
    /// - Returns: Their names.
    mutating func removeEnded(at now: Int64) -> Set<String> {
        let ended = Set(list.values.filter { $0.end <= now }.map(\.name))
        for name in ended { list[name] = nil }
        return ended
    }

    /// Makes one that lasts so many seconds; nil when there are too many.
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
        let namespace = Namespace(name: name, end: now + Int64(seconds))
        list[name] = namespace
        return namespace
    }

    /// Ends one.
    ///
    /// - Returns: Whether there was one of this name.
    mutating func remove(_ name: String) -> Bool {
        list.removeValue(forKey: name) != nil
    }

    /// The namespace of a push with this header and device token.
    func namespace(header: String?, deviceToken: String) -> String? {
        if let header { return header }
        guard !list.isEmpty else { return nil }
        return list[deviceToken.prefix(Namespaces.nameLength).lowercased()]?.name
    }
}
