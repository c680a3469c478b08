import APNsClient
import Commands

extension Command {
    /// Makes a channel.
    static let channelsCreate = Command(
        "channels create",
        "Make a broadcast channel and print its identifier",
        examples: ["channels create --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --app com.example.app"],
        Option<String>("--app", "The app's bundle identifier"),
        Flag("--store", "Keep the newest broadcast for devices that are away, eight hours at most"),
        ServerOptions.declared
    ) { app, isStoring, server in
        try await withChannels(of: app, at: server) { channels in
            let channel = try await channels.create(storing: isStoring ? .mostRecent : .nothing)
            Terminal.output.write("\(channel)\n")
        }
    }

    /// Looks at a channel.
    static let channelsRead = Command(
        "channels read",
        "Print what a broadcast channel stores",
        examples: [
            "channels read --host localhost:2197 --app com.example.app dHN0LXNyY2gtY2hubA=="
        ],
        Argument<String>("channel", "The channel's identifier"),
        Option<String>("--app", "The app's bundle identifier"),
        ServerOptions.declared
    ) { channel, app, server in
        try await withChannels(of: app, at: server) { channels in
            let storage = try await channels.storage(of: ChannelID(channel))
            Terminal.output.write(storage == .nothing ? "stores nothing\n" : "stores the newest broadcast\n")
        }
    }

    /// Lists an app's channels.
    static let channelsList = Command(
        "channels list",
        "Print an app's broadcast channels, one per line",
        examples: ["channels list --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --app com.example.app"],
        Option<String>("--app", "The app's bundle identifier"),
        ServerOptions.declared
    ) { app, server in
        try await withChannels(of: app, at: server) { channels in
            for channel in try await channels.list() { Terminal.output.write("\(channel)\n") }
        }
    }

    /// Deletes a channel.
    static let channelsDelete = Command(
        "channels delete",
        "Delete a broadcast channel for good",
        examples: [
            "channels delete --host localhost:2197 --app com.example.app dHN0LXNyY2gtY2hubA=="
        ],
        Argument<String>("channel", "The channel's identifier"),
        Option<String>("--app", "The app's bundle identifier"),
        ServerOptions.declared
    ) { channel, app, server in
        try await withChannels(of: app, at: server) { channels in try await channels.delete(ChannelID(channel)) }
    }

    private static func withChannels(
        of app: String,
        at server: ServerOptions,
        _ body: (Channels) async throws -> Void
    ) async throws {
        let client = try server.client(checksBeforeSending: true)
        do {
            try await body(client.channels(of: Topic(app)))
            await client.close()
        } catch {
            await client.close()
            throw error
        }
    }
}
