import APNsClient
import Commands

extension Command {
    /// Starts a Live Activity.
    static let liveStart = Command(
        "live start",
        "Start a Live Activity on a device",
        examples: [
            "live start --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app \\\n"
                + "      --to 5d3a6a1c8f9a42d6 --attributes-type RideAttributes --attributes '{\"rideID\":\"r7\"}' \\\n"
                + "      --state '{\"minutesLeft\":5}' --title \"Your ride\" --body \"It arrives in 5 minutes.\""
        ],
        Option<DeviceToken>("--to", "The device's push-to-start token, hexadecimal"),
        Option<String>("--topic", "The app's bundle identifier"),
        Option<String>("--attributes-type", "The name of the app's ActivityAttributes"),
        Option<JSONObject>("--attributes", "What stays the same, a JSON object"),
        Option<JSONObject>("--state", "What it shows first, a JSON object"),
        Option<String>("--title", "First line of the alert"),
        Option<String>("--body", "Message of the alert"),
        Option<String?>("--channel", "Channel that it will listen on; by default it gets a token of its own"),
        ServerOptions.declared
    ) { token, topic, type, attributes, state, title, body, channel, server in
        let start = try LiveActivityStart(
            attributesType: type,
            attributes: attributes.value,
            state: state.value,
            alert: LiveActivityAlert(title: .plain(title), body: .plain(body)),
            reach: channel.map { .byChannel(ChannelID($0)) } ?? .byToken
        )
        try await answer(from: server) { client in try await client.start(start, on: token, topic: Topic(topic)) }
    }

    /// Changes a Live Activity.
    static let liveUpdate = Command(
        "live update",
        "Change a running Live Activity",
        examples: [
            "live update --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app \\\n"
                + "      --to 5d3a6a1c8f9a42d6 --state '{\"minutesLeft\":4}'"
        ],
        Option<DeviceToken>("--to", "The activity's own token, hexadecimal"),
        Option<String>("--topic", "The app's bundle identifier"),
        Option<JSONObject>("--state", "What it shows now, a JSON object"),
        Option<String?>("--title", "First line of an alert; without one the change is quiet"),
        Option<String?>("--body", "Message of the alert"),
        ServerOptions.declared
    ) { token, topic, state, title, body, server in
        let update = try LiveActivityUpdate.update(state.value, alert: alert(title, body))
        try await answer(from: server) { client in
            try await client.send(update, toActivity: token, topic: Topic(topic))
        }
    }

    /// Ends a Live Activity.
    static let liveEnd = Command(
        "live end",
        "End a Live Activity",
        examples: [
            "live end --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app \\\n"
                + "      --to 5d3a6a1c8f9a42d6 --state '{\"minutesLeft\":0}' --dismiss now"
        ],
        Option<DeviceToken>("--to", "The activity's own token, hexadecimal"),
        Option<String>("--topic", "The app's bundle identifier"),
        Option<JSONObject?>("--state", "What it shows last, a JSON object"),
        Option("--dismiss", "When it leaves the Lock Screen", default: DismissalWord.system),
        ServerOptions.declared
    ) { token, topic, state, dismissal, server in
        let end = try ending(state, dismissal)
        try await answer(from: server) { client in
            try await client.send(end, toActivity: token, topic: Topic(topic))
        }
    }

    /// Sends a broadcast.
    static let broadcast = Command(
        "broadcast",
        "Change or end every Live Activity that listens on a channel",
        examples: [
            "broadcast --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --app com.example.app \\\n"
                + "      --channel dHN0LXNyY2gtY2hubA== --state '{\"score\":\"2:1\"}'"
        ],
        Option<String>("--channel", "The channel's identifier"),
        Option<String>("--app", "The app's bundle identifier"),
        Option<JSONObject>("--state", "What the activities show, a JSON object"),
        Flag("--end", "End the activities with that"),
        Option("--expires-at", "Seconds since 1970 until which a storing channel keeps it; 0 for no other", default: 0),
        ServerOptions.declared
    ) { channel, app, state, isEnd, expiration, server in
        let update = isEnd ? try ending(state, .system) : try LiveActivityUpdate.update(state.value)
        try await answer(from: server) { client in
            try await client.broadcast(
                update,
                on: ChannelID(channel),
                of: Topic(app),
                expiration: Expiration(secondsSince1970: Int64(expiration))
            )
        }
    }

    private static func alert(_ title: String?, _ body: String?) -> LiveActivityAlert? {
        guard title != nil || body != nil else { return nil }
        return LiveActivityAlert(title: .plain(title ?? ""), body: .plain(body ?? ""))
    }

    private static func ending(_ state: JSONObject?, _ word: DismissalWord) throws -> LiveActivityUpdate {
        let dismissal: LiveActivityUpdate.Dismissal = word == .now ? .immediately : .bySystem
        guard let state else { return .end(dismissal: dismissal) }
        return try .end(state.value, dismissal: dismissal)
    }

    /// Sends one push and prints what came of it.
    private static func answer(
        from server: ServerOptions,
        to send: (PushClient) async throws -> PushReceipt
    ) async throws {
        let client = try server.client(checksBeforeSending: true)
        do {
            let receipt = try await send(client)
            await client.close()
            Terminal.output.write("200 accepted as \(receipt.id)\n")
        } catch {
            await client.close()
            throw error
        }
    }
}

/// When an activity that has ended leaves the Lock Screen.
enum DismissalWord: String, CaseIterable, ArgumentValue {
    case now
    case system
}

/// A JSON object on the command line.
struct JSONObject: ArgumentValue {
    let value: JSONValue

    init(argument: String) throws(UsageError) {
        do throws(JSONError) {
            value = try JSONReader.read(Array(argument.utf8))
        } catch {
            throw UsageError("it is no JSON: \(error)")
        }
        guard value.members != nil else { throw UsageError("it has to be a JSON object, in braces") }
    }

    static var valueName: String { "json" }
}
