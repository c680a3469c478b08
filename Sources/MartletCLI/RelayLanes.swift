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
    private var app: AppName
    private var environment: ServerOptions.Environment

    static let declared = Group(
        Option<AppName>("--app", "Name of the app in the relay"),
        Option<ServerOptions.Environment>("--environment", "Apple's environment")
    ) { LaneOptions(app: $0, environment: $1) }

    /// The name of the lane for messages.
    var name: String { "\(app.text) \(environment.rawValue)" }

    /// Returns the path of an action on the lane.
    func path(of action: String) -> String { "/v1/apps/\(app.text)/lanes/\(environment.rawValue)/\(action)" }
}

extension Command {
    /// The time limit for cancelling the pushes of a lane: enough for a hundred million.
    private static let purgeTime = Duration.seconds(3_600)

    /// Pauses a lane of a relay.
    static let relayPause = Command(
        "relay pause",
        "Make a relay stop sending the pushes of an app; it still accepts and stores them",
        examples: ["relay pause --app orders --environment production --key-file operator.key"],
        LaneOptions.declared,
        RelayClient.declared,
        OutputFormat.declared
    ) { lane, relay, output in
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
    ) { lane, relay, output in
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
    ) { lane, relay, output in
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
