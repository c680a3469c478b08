public import APNs

/// What became of one push of many.
public struct BulkOutcome: Sendable {
    /// The place of the device in what was handed in, counted from 0.
    public let index: Int
    /// The device.
    public let token: DeviceToken
    /// The receipt, or why there is none.
    public let result: Result<PushReceipt, APNsError>

    /// Why the push was not accepted; nil when it was.
    public var error: APNsError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
