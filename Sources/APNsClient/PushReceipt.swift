public import APNs

/// What APNs gives for a push that it has accepted.
public struct PushReceipt: Sendable, Hashable {
    /// The push's identifier, as APNs returned it or, when it returned none, as it was sent.
    public let id: APNsID
    /// The key to the push's delivery log in Apple's console; only the development environment gives one.
    ///
    /// Source: "Handling notification responses from APNs".
    public let uniqueID: String?
}
