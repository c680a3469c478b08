/// What APNs keeps of a channel's pushes for devices that are away; fixed when the channel is created.
///
/// Source: "Sending channel management requests to APNs".
public enum ChannelStorage: Int, Sendable, Hashable, CaseIterable {
    /// Nothing; for frequent updates, as it has the higher budget.
    case nothing = 0
    /// The newest push, for eight hours at most.
    case mostRecent = 1
}
