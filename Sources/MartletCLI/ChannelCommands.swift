// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

extension Command {
    private static let topic = Option<String>.topic
    private static let channel = Option<String>("--channel", "Identifier of the channel")

    /// Creates a channel.
    static let channelsCreate = Command(
        "channels create",
        "Create a broadcast channel and print its identifier",
        examples: ["channels create --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app"],
        topic,
        Flag("--store", "Store the latest broadcast for offline devices, for up to eight hours"),
        ServerOptions.declared,
        OutputFormat.declared
    ) { topic, isStoring, server, output in
        let channel = try await server.withClient { client in
            try await client.channels(of: Topic(topic)).create(storing: isStoring ? .mostRecent : .nothing)
        }
        output.write(json: ["channel": .string(channel.rawValue)], text: "\(channel)\n")
    }

    /// Reads a channel.
    static let channelsRead = Command(
        "channels read",
        "Print whether a broadcast channel stores broadcasts",
        examples: ["channels read --host localhost:2197 --topic com.example.app --channel dHN0LXNyY2gtY2hubA=="],
        channel,
        topic,
        ServerOptions.declared,
        OutputFormat.declared
    ) { channel, topic, server, output in
        let storage = try await server.withClient { client in
            try await client.channels(of: Topic(topic)).storage(of: ChannelID(channel))
        }
        output.write(
            json: ["channel": .string(channel), "stores-newest": .bool(storage == .mostRecent)],
            text: storage == .nothing ? "stores nothing\n" : "stores the newest broadcast\n"
        )
    }

    /// Lists an app's channels.
    static let channelsList = Command(
        "channels list",
        "Print the broadcast channels of an app, one per line",
        examples: ["channels list --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --topic com.example.app"],
        topic,
        ServerOptions.declared,
        OutputFormat.declared
    ) { topic, server, output in
        let channels = try await server.withClient { client in try await client.channels(of: Topic(topic)).list() }
        output.write(
            json: ["channels": .array(channels.map { .string($0.rawValue) })],
            text: channels.map { "\($0)\n" }.joined()
        )
    }

    /// Deletes a channel.
    static let channelsDelete = Command(
        "channels delete",
        "Delete a broadcast channel permanently",
        examples: ["channels delete --host localhost:2197 --topic com.example.app --channel dHN0LXNyY2gtY2hubA=="],
        channel,
        topic,
        ServerOptions.declared,
        OutputFormat.declared
    ) { channel, topic, server, output in
        try await server.withClient { client in
            let channels = client.channels(of: Topic(topic))
            // The client library's deletion succeeds for a channel that does not exist, which hides a misspelled
            // identifier.
            _ = try await channels.storage(of: ChannelID(channel))
            try await channels.delete(ChannelID(channel))
        }
        output.write(json: ["channel": .string(channel), "deleted": true], text: "")
    }
}
