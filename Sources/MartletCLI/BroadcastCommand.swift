// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands

extension Command {
    /// Sends a broadcast.
    static let broadcast = Command(
        "broadcast",
        "Update or end the Live Activities on a channel",
        examples: [
            "broadcast --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app "
                + "--channel dHN0LXNyY2gtY2hubA== --state '{\"score\":\"2:1\"}'"
        ],
        Option<String>("--channel", "Identifier of the channel"),
        Option<String>.topic,
        Option<JSONObject?>("--state", "Content state, a JSON object"),
        Option<InputFile?>("--snapshot", "Snapshot of a Live Activity in place of --state; - for standard input"),
        Flag.mobileSurfaces,
        Flag("--end", "End the activities with this content"),
        LiveContentOptions.declared,
        LiveDeliveryOptions.declared,
        ServerOptions.declared,
        OutputFormat.declared
    ) { channel, topic, state, snapshot, isCompatible, isEnd, content, delivery, server, output in
        let channel = ChannelID(channel)
        guard !isCompatible || snapshot != nil else { throw UsageError("--mobile-surfaces needs --snapshot") }
        let push = try BroadcastContent(state, snapshot, isEnd: isEnd, content)
        delivery.printNotes()
        let receipt = try await server.withClient { client in
            switch push {
            case .update(let update):
                try await client.broadcast(
                    update,
                    to: channel,
                    topic: Topic(topic),
                    timestamp: delivery.timestamp?.date(),
                    priority: (delivery.priority ?? .powerAware).priority,
                    expiration: delivery.expiration?.expiration ?? .attemptOnce
                )
            case .snapshot(let snapshot):
                try await client.send(
                    snapshot,
                    to: isEnd ? .channelEnd(channel, dismissal: .default) : .channel(channel),
                    topic: Topic(topic),
                    delivery: SurfaceDelivery(
                        priority: delivery.priority,
                        expiration: delivery.expiration?.expiration,
                        timestamp: delivery.timestamp?.date(),
                        staleDate: content.staleDate?.date(),
                        relevanceScore: content.relevanceScore,
                        compatibility: isCompatible ? .mobileSurfaces : []
                    )
                )
            }
        }
        output.write(json: receipt.json(to: .init("channel", .string(channel.rawValue))), text: receipt.text)
        if delivery.timestamp == nil { try await LiveTimestamp.waitForNext() }
    }
}

/// The content of a broadcast.
private enum BroadcastContent {
    case update(LiveActivityUpdate)
    case snapshot(SurfaceSnapshot)

    init(_ state: JSONObject?, _ snapshot: InputFile?, isEnd: Bool, _ content: LiveContentOptions) throws {
        switch (state, snapshot) {
        case (let state?, nil):
            let (staleDate, relevanceScore) = (content.staleDate?.date(), content.relevanceScore)
            self = .update(
                try isEnd
                    ? .end(state.value, staleDate: staleDate, relevanceScore: relevanceScore)
                    : .update(state.value, staleDate: staleDate, relevanceScore: relevanceScore)
            )
        case (nil, let file?): self = .snapshot(try SurfaceSnapshot(file: file, of: .liveActivity))
        case (nil, nil): throw UsageError("nothing to send: give --state or --snapshot")
        case (_?, _?): throw UsageError("--state and --snapshot exclude each other: give one of them")
        }
    }
}
