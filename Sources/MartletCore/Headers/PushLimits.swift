// SPDX-License-Identifier: Apache-2.0

/// The sizes that APNs allows; every rule takes its limit from here.
public enum PushLimits {
    /// The maximum number of bytes in the payload of a push to a device, unless its type's descriptor has another.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let payloadByteCount = 4_096
    /// The maximum number of bytes in the payload of a broadcast.
    ///
    /// Source: "Sending broadcast push notification requests to APNs".
    public static let broadcastPayloadByteCount = 5_120
    /// The maximum number of channels of an app in one environment.
    ///
    /// Source: "Sending channel management requests to APNs".
    public static let channelCount = 10_000
    /// The maximum number of bytes in an `apns-collapse-id`.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let collapseIDByteCount = 64
}
