internal import APNs

/// A request about channels ("Sending channel management requests to APNs").
struct ChannelRequest {
    let method: String
    let path: String
    var channel: ChannelID?
    var body: [UInt8] = []

    static func create(of app: Topic, storing storage: ChannelStorage) -> ChannelRequest {
        let body: JSONValue = [
            "message-storage-policy": .number(JSONNumber(storage.rawValue)), "push-type": "LiveActivity",
        ]
        return ChannelRequest(method: "POST", path: "/1/apps/\(app)/channels", body: body.encoded())
    }

    static func read(_ channel: ChannelID, of app: Topic) -> ChannelRequest {
        ChannelRequest(method: "GET", path: "/1/apps/\(app)/channels", channel: channel)
    }

    static func delete(_ channel: ChannelID, of app: Topic) -> ChannelRequest {
        ChannelRequest(method: "DELETE", path: "/1/apps/\(app)/channels", channel: channel)
    }

    static func list(of app: Topic) -> ChannelRequest {
        ChannelRequest(method: "GET", path: "/1/apps/\(app)/all-channels")
    }
}
