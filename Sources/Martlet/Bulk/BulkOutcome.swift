// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The result of one push in a bulk send.
public struct BulkOutcome: Sendable {
    /// The index of the device in the input, counted from 0.
    public let index: Int
    /// The device.
    public let token: DeviceToken
    /// The receipt, or the error of a push that was not accepted.
    public let result: Result<PushReceipt, APNsError>

    /// The error of a push that was not accepted; nil when it was.
    public var error: APNsError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
