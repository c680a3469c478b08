/// The last 100 provider tokens that a fault has declared expired.
struct ExpiredTokens {
    private static let limit = 100

    /// Hashes of the values of `authorization`.
    private var identities: [Int] = []

    /// Adds a value of `authorization`.
    mutating func insert(_ authorization: String) {
        guard !contains(authorization) else { return }
        if identities.count == ExpiredTokens.limit { identities.removeFirst() }
        identities.append(authorization.hashValue)
    }

    /// Returns whether a value of `authorization` has been declared expired.
    func contains(_ authorization: String) -> Bool {
        !identities.isEmpty && identities.contains(authorization.hashValue)
    }
}
