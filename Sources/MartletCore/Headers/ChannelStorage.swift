// SPDX-License-Identifier: Apache-2.0

/// The pushes of a channel that APNs stores for offline devices; fixed when the channel is created.
///
/// Source: "Sending channel management requests to APNs".
public enum ChannelStorage: Int, Sendable, Hashable, CaseIterable {
    /// No pushes. Suited to frequent updates, because its budget is higher.
    case nothing = 0
    /// The most recent push, for at most eight hours.
    case mostRecent = 1
}
