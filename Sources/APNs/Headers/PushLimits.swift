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
    /// Bytes in an `apns-collapse-id`.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let collapseIDByteCount = 64
}
