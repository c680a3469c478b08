// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension PushClient.Channels {
    /// A channel management request ("Sending channel management requests to APNs").
    public enum Request: Sendable, Hashable {
        /// Creates a channel.
        case create(storing: ChannelStorage)
        /// Reads the storage policy of a channel.
        case read(ChannelID)
        /// Deletes a channel.
        case delete(ChannelID)
        /// Lists all channels.
        case list
    }
}

extension PushClient.Channels.Request {
    func target(of app: Topic) -> RequestTarget {
        switch self {
        case .create: .channels(method: "POST", bundle: app.rawValue, nil, isList: false)
        case .read(let channel): .channels(method: "GET", bundle: app.rawValue, channel, isList: false)
        case .delete(let channel): .channels(method: "DELETE", bundle: app.rawValue, channel, isList: false)
        case .list: .channels(method: "GET", bundle: app.rawValue, nil, isList: true)
        }
    }

    var body: [UInt8] {
        guard case .create(let storage) = self else { return [] }
        let body: JSONValue = ["message-storage-policy": .integer(storage.rawValue), "push-type": "LiveActivity"]
        return body.encoded()
    }
}
