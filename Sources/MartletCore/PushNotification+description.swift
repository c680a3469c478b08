// SPDX-License-Identifier: Apache-2.0

extension PushNotification: CustomStringConvertible {
    /// The push type, the headers that are set, and the payload, in one line.
    public var description: String {
        let headers: [String?] = [
            pushType?.rawValue ?? "no push type", priority.map { "priority \($0.rawValue)" },
            expiration.map { "expiration \($0.secondsSince1970)" }, collapseID.map { "collapse-id \($0.rawValue)" },
            id.map { "id \($0)" },
        ]
        return headers.compactMap(\.self).joined(separator: ", ") + ": \(payload)"
    }
}

extension PushNotification.Payload: CustomStringConvertible {
    /// The payload as it is sent.
    public var description: String {
        do throws(PayloadError) {
            return try String(decoding: encoded(), as: UTF8.self)
        } catch {
            return "no JSON (\(error))"
        }
    }
}

extension PushNotification.CustomData: CustomStringConvertible {
    /// The JSON object.
    public var description: String { String(decoding: json, as: UTF8.self) }
}
