// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The rules about paths, methods, repeated fields and credentials that the simulator and the relay share.
extension APNsRequest.Target {
    /// The methods that the path accepts.
    package var allowedMethods: [String] {
        switch self {
        case .device, .broadcast: ["POST"]
        case .channels: ["POST", "GET", "DELETE"]
        case .allChannels: ["GET"]
        }
    }

    /// Returns the reason for a method that the path does not accept; nil for one that it does.
    ///
    /// Of broadcasts and requests about channels Apple says that the path or the method is bad.
    package func reason(forMethod method: String) -> APNsReason? {
        guard !allowedMethods.contains(method) else { return nil }
        return if case .device = self { .methodNotAllowed } else { .badPath }
    }

    /// Returns the reason for a field that was sent twice; nil when APNs does not read the field of such a request.
    ///
    /// `DuplicateHeaders` is not among the answers to broadcasts and requests about channels.
    package func reason(forRepeated field: String) -> APNsReason? {
        switch (self, field) {
        case (.device, _): .duplicateHeaders
        case (_, "authorization"): .invalidProviderToken
        case (_, "apns-channel-id"): .badChannelID
        case (_, "apns-request-id"): .badMessageID
        case (.broadcast, "apns-push-type"): .invalidPushType
        case (.broadcast, "apns-expiration"): .badExpirationDate
        case (.broadcast, "apns-priority"): .badPriority
        default: nil
        }
    }
}

extension APNsRequest {
    /// Returns whether the value of `authorization` is more than the name of its scheme.
    package static func hasCredential(_ authorization: String) -> Bool {
        let scheme = "bearer"
        guard authorization.utf8.count <= scheme.utf8.count + 1 else { return true }
        let credential = authorization.split(separator: " ").joined(separator: " ").lowercased()
        return !credential.isEmpty && credential != scheme
    }

    /// Returns an identifier of the client for the answer; nil for a missing one and for one that is not a UUID, in
    /// place of which APNs generates one.
    ///
    /// The text is unchanged, also in upper case: clients find the push of an answer by comparing it.
    package static func returnedID(_ id: String?) -> String? {
        id.flatMap { (try? APNsID($0, allowsUpperCase: true)) == nil ? nil : $0 }
    }

    /// Whether `apns-request-id` is present and not a UUID.
    package var hasMalformedRequestID: Bool {
        guard hasRequestID, let requestID else { return false }
        return (try? APNsID(requestID, allowsUpperCase: true)) == nil
    }
}
