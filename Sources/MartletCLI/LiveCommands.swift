// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

extension Command {
    /// Starts a Live Activity.
    static let liveStart = Command(
        "live start",
        "Start a Live Activity on a device",
        examples: [
            "live start --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app "
                + "--to 5d3a6a1c8f9a42d6 --attributes-type RideAttributes --attributes '{\"rideID\":\"r7\"}' "
                + "--state '{\"minutesLeft\":5}' --title \"Your ride\" --body \"It arrives in 5 minutes.\""
        ],
        Option<DeviceToken>("--to", "Push-to-start token of the device, hexadecimal"),
        Option<String>.topic,
        Option<String>("--attributes-type", "Name of the app's ActivityAttributes"),
        Option<JSONObject>("--attributes", "Attributes of the activity, a JSON object"),
        Option<JSONObject>("--state", "Initial content state, a JSON object"),
        Option<String>("--title", "Title of the alert"),
        Option<String>("--body", "Text of the alert"),
        Option<String?>(
            "--channel",
            "Channel whose broadcasts update the activity; by default it is updated by its token"
        ),
        LiveContentOptions.declared,
        LiveDeliveryOptions.declared,
        ServerOptions.declared,
        OutputFormat.declared
    ) { token, topic, type, attributes, state, title, body, channel, content, delivery, server, output in
        let start = try LiveActivityStart(
            attributesType: type,
            attributes: attributes.value,
            state: state.value,
            alert: LiveActivityAlert(title: .plain(title), body: .plain(body)),
            updateSource: channel.map { .byChannel(ChannelID($0)) } ?? .byToken,
            staleDate: content.staleDate?.date(),
            relevanceScore: content.relevanceScore
        )
        delivery.printNotes()
        try await server.sendOne(to: token, output) { client in
            try await client.startLiveActivity(
                start,
                on: token,
                topic: Topic(topic),
                timestamp: delivery.timestamp?.date(),
                priority: delivery.priority ?? .immediate,
                expiration: delivery.expiration?.expiration
            )
        }
    }

    /// Updates a Live Activity.
    static let liveUpdate = Command(
        "live update",
        "Update the content of a running Live Activity",
        examples: [
            "live update --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app "
                + "--to 5d3a6a1c8f9a42d6 --state '{\"minutesLeft\":4}'"
        ],
        LiveTarget.declared,
        Option<JSONObject>("--state", "New content state, a JSON object"),
        Option<String?>("--title", "Title of an alert; without title and body the update is silent"),
        Option<String?>("--body", "Text of the alert"),
        LiveContentOptions.declared,
        LiveDeliveryOptions.declared,
        ServerOptions.declared,
        OutputFormat.declared
    ) { target, state, title, body, content, delivery, server, output in
        let update = try LiveActivityUpdate.update(
            state.value,
            alert: alert(title, body),
            staleDate: content.staleDate?.date(),
            relevanceScore: content.relevanceScore
        )
        try await server.send(update, to: target, delivery, output)
    }

    /// Ends a Live Activity.
    static let liveEnd = Command(
        "live end",
        "End a Live Activity",
        examples: [
            "live end --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app "
                + "--to 5d3a6a1c8f9a42d6 --state '{\"minutesLeft\":0}' --dismiss now"
        ],
        LiveTarget.declared,
        Option<JSONObject?>("--state", "Final content state, a JSON object"),
        Option(
            "--dismiss",
            "Time at which the activity is removed from the Lock Screen",
            default: DismissalTime.system
        ),
        LiveDeliveryOptions.declared,
        ServerOptions.declared,
        OutputFormat.declared
    ) { target, state, dismissal, delivery, server, output in
        try await server.send(LiveActivityUpdate.end(state, dismissal), to: target, delivery, output)
    }

    private static func alert(_ title: String?, _ body: String?) -> LiveActivityAlert? {
        guard title != nil || body != nil else { return nil }
        return LiveActivityAlert(title: .plain(title ?? ""), body: .plain(body ?? ""))
    }
}

extension ServerOptions {
    /// Sends an update to a running activity and prints the answer.
    fileprivate func send(
        _ update: LiveActivityUpdate,
        to target: LiveTarget,
        _ delivery: LiveDeliveryOptions,
        _ output: OutputFormat
    ) async throws {
        delivery.printNotes()
        try await sendOne(to: target.token, output) { client in
            try await client.send(
                update,
                toActivity: target.token,
                topic: target.topic,
                timestamp: delivery.timestamp?.date(),
                priority: delivery.priority ?? .powerAware,
                expiration: delivery.expiration?.expiration
            )
        }
        if delivery.timestamp == nil { try await LiveTimestamp.waitForNext() }
    }

    /// Sends a push to a device and prints the answer.
    fileprivate func sendOne(
        to token: DeviceToken,
        _ output: OutputFormat,
        _ send: (PushClient) async throws -> PushReceipt
    ) async throws {
        let receipt = try await withClient(send)
        output.write(json: receipt.json(to: .init("device-token", .string(token.hex))), text: receipt.text)
    }
}

extension LiveActivityUpdate {
    /// Creates the end of an activity, with its final content if given.
    static func end(_ state: JSONObject?, _ time: DismissalTime) throws(PayloadError) -> LiveActivityUpdate {
        let dismissal: Dismissal = time == .now ? .immediate : .default
        guard let state else { return .end(dismissal: dismissal) }
        return try .end(state.value, dismissal: dismissal)
    }
}
