public import MartletCore

extension Channels {
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

/// A request about the channels of one app.
struct ChannelRequest {
    let app: Topic
    let content: Channels.Request

    var method: String {
        switch content {
        case .create: "POST"
        case .read, .list: "GET"
        case .delete: "DELETE"
        }
    }

    var path: String {
        "/1/apps/\(app)/" + (content == .list ? "all-channels" : "channels")
    }

    var channel: ChannelID? {
        switch content {
        case .read(let channel), .delete(let channel): channel
        case .create, .list: nil
        }
    }

    var body: [UInt8] {
        guard case .create(let storage) = content else { return [] }
        let body: JSONValue = [
            "message-storage-policy": .number(JSONNumber(storage.rawValue)), "push-type": "LiveActivity",
        ]
        return body.encoded()
    }
}
