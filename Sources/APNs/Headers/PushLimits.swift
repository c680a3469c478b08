/// The sizes that APNs allows; every rule takes them from here.
public enum PushLimits {
    /// Bytes in the payload of a push to a device.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let payloadByteCount = 4_096
    /// Bytes in the payload of a VoIP push.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let voipPayloadByteCount = 5_120
    /// Bytes in the payload of a broadcast.
    ///
    /// Source: "Sending broadcast push notification requests to APNs".
    public static let broadcastPayloadByteCount = 5_120
    /// Channels that an app may have in one environment.
    ///
    /// Source: "Sending channel management requests to APNs".
    public static let channelCount = 10_000
    /// Bytes in an `apns-collapse-id`.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let collapseIDByteCount = 64
}
