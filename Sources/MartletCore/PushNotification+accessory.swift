// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushNotification {
    /// Creates an accessory's response to a forwarded notification, which the system decrypts and passes to the
    /// companion app's data provider extension (iOS 26.5).
    ///
    /// The device token is the session's `pushToken`; the topic is the companion app's bundle identifier, to which
    /// sending adds `.push-type.accessory`. Apple documents neither a priority nor an expiration for this type, so none
    /// is sent unless given. Source: "Responding to forwarded notifications".
    ///
    /// - Parameters:
    ///   - encryptedData: The encrypted response.
    ///   - sessionIdentifier: The identifier of the session that the response belongs to.
    ///   - keyID: The key identifier of the ratchet that encrypted it.
    ///   - messageIndex: The message index of the ratchet that encrypted it.
    ///   - priority: The priority of the delivery; nil, the default, to send no priority.
    ///   - expiration: The time until which APNs tries to deliver it; nil, the default, to send no expiration.
    ///   - id: The identifier; nil, the default, to generate one for each send.
    /// - Returns: The notification.
    public static func accessory(
        encryptedData: some Sequence<UInt8>,
        sessionIdentifier: String,
        keyID: some Sequence<UInt8>,
        messageIndex: UInt64,
        priority: Priority? = nil,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        var object = JSONObjectWriter(capacity: 512)
        object.write("aps") { aps in
            aps.write("encryptedData", Data(encryptedData).base64EncodedString())
            aps.write("sessionIdentifier", sessionIdentifier)
            aps.write("keyID", Data(keyID).base64EncodedString())
            aps.write("messageIndex", String(messageIndex))
        }
        return opaque(object.finish(), pushType: .accessory, priority: priority, expiration: expiration, id: id)
    }
}
