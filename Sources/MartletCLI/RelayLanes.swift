// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options that select a lane of a relay.
struct LaneOptions: Sendable {
    /// A lane: the pushes of an app in one of Apple's environments.
    struct Lane: Sendable {
        let app: String
        let environment: String

        /// The name of the lane for messages.
        var name: String { "\(app) \(environment)" }

        /// Returns the path of an action on the lane.
        func path(of action: String) -> String { "/v1/apps/\(app)/lanes/\(environment)/\(action)" }
    }

    private var app: AppName
    private var environment: ServerOptions.Environment?

    static let declared = Group(
        Option<AppName>("--app", "Name of the app in the relay"),
        Option<ServerOptions.Environment?>("--environment", "Apple's environment; by default the only one of the app")
    ) { LaneOptions(app: $0, environment: $1) }

    /// Returns the lane; without `--environment`, the only lane of the app in the relay.
    ///
    /// - Throws: ``UsageError`` if the app has several lanes, and ``CommandError`` if the API key cannot use the app.
    func lane(of relay: RelayClient) async throws -> Lane {
        if let environment { return Lane(app: app.text, environment: environment.rawValue) }
        let apps = try await relay.send("GET", "/v1/apps")["apps"]?.elements ?? []
        guard let facts = apps.first(where: { $0["name"]?.stringValue == app.text }) else {
            throw CommandError("this key can use no app \(app.text): martlet relay apps lists its apps")
        }
        let environments = facts["environments"]?.elements?.compactMap(\.stringValue) ?? []
        guard let only = environments.first, environments.count == 1 else {
            throw UsageError(
                "--environment is missing: the app \(app.text) has \(environments.joined(separator: " and "))"
            )
        }
        return Lane(app: app.text, environment: only)
    }
}

extension Command {
    /// The time limit for cancelling the pushes of a lane or a job: enough for a hundred million.
    static let purgeTime = Duration.seconds(3_600)

    /// Pauses a lane of a relay.
    static let relayPause = Command(
        "relay pause",
        "Make a relay stop sending the pushes of an app; it still accepts and stores them",
        examples: ["relay pause --app orders --environment production --key-file operator.key"],
        LaneOptions.declared,
        RelayClient.declared,
        OutputFormat.declared
    ) { options, relay, output in
        let lane = try await options.lane(of: relay)
        let answer = try await relay.send("POST", lane.path(of: "pause"))
        output.write(json: answer, text: "\(lane.name): \(answer.manualPause).\n")
    }

    /// Resumes a lane of a relay.
    static let relayResume = Command(
        "relay resume",
        "Make a relay send the pushes of a paused app again",
        examples: ["relay resume --app orders --environment production --key-file operator.key"],
        LaneOptions.declared,
        RelayClient.declared,
        OutputFormat.declared
    ) { options, relay, output in
        let lane = try await options.lane(of: relay)
        let answer = try await relay.send("POST", lane.path(of: "resume"))
        output.write(json: answer, text: "\(lane.name): \(answer["resumed"] == true ? "resumed" : "was not paused").\n")
    }

    /// Cancels the waiting pushes of a lane.
    static let relayPurge = Command(
        "relay purge",
        "Cancel all pushes of an app that wait in a relay; those in flight are not affected",
        examples: ["relay purge --app orders --environment production --key-file operator.key"],
        LaneOptions.declared,
        RelayClient.declared,
        OutputFormat.declared
    ) { options, relay, output in
        let lane = try await options.lane(of: relay)
        let answer = try await relay.send("POST", lane.path(of: "purge"), within: purgeTime)
        let count = Int(answer["purged"]?.integerValue ?? 0)
        output.write(json: answer, text: "\(lane.name): \(count.counted("push")) cancelled.\n")
    }
    .neverSuggested()
}

extension JSONValue {
    /// A description of the manual pause of a lane.
    var manualPause: String {
        "paused manually since \(time("since")) by \(self["caller"]?.stringValue ?? "")"
    }

    /// Returns the text of a member that is a time in milliseconds since 1970.
    func time(_ name: String) -> String {
        Date(timeIntervalSince1970: Double((self[name]?.integerValue ?? 0) / 1_000)).formatted(.iso8601)
    }
}

/// The name of an app in a relay.
struct AppName: ArgumentValue {
    let text: String

    init(argument: String) throws(UsageError) {
        let isValid = argument.utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber) || "-._".contains(character)
        }
        guard isValid, !argument.isEmpty else {
            let found = ShownValue.quoted(argument)
            throw UsageError("must consist of letters, digits, \"-\", \".\" and \"_\" (found \(found))")
        }
        text = argument
    }

    static var valueName: String { "name" }
}
