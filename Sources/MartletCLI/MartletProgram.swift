// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The command `martlet`: parses the command line, calls the modules and prints the results.
@main
struct MartletProgram {
    static let program: Program = Program(
        "martlet",
        "send pushes through the Apple Push Notification service, simulate it, and run a relay",
        commands: [
            .demo, .send, .liveStart, .liveUpdate, .liveEnd, .broadcast, .channelsCreate, .channelsRead, .channelsList,
            .channelsDelete, .surfaceValidate, .surfaceProject, .surfaceMigrate, .surfaceSchema, .surfaceExample,
            .surfaceCategories, .surfaceSmoke,
            .simulate, .relay, .relayCheck, .relaySchema, .relayMigrate, .relayKeysMake, .relayStatus, .relayApps,
            .relayPause,
            .relayResume, .relayPurge, .relaySearch, .relayJobs, .relaySurfaces, .relayDeadLetters, .relayImport,
            .relayExport, .relayDrain,
            .relayBackup, .relayDataCheck,
            .authorityPath, .authorityPrint, .healthcheck, .token, .doctor, .completion,
            .manual, .version,
        ],
        groups: [
            CommandGroup("live", "Start, update and end Live Activities"),
            CommandGroup("channels", "Create, read, list and delete broadcast channels"),
            CommandGroup("surface", "Validate, project and migrate snapshots of surfaces"),
            CommandGroup("relay keys", "Create API keys for a relay"),
            CommandGroup("relay data", "Check the stored pushes of a relay"),
            CommandGroup("ca", "Print the CA certificate of the simulator, or its path"),
        ],
        report: ErrorReport.init
    )

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let environment = ProcessInfo.processInfo.environment
        do throws(UsageError) {
            try ProcessInput.check(environment: environment, prefix: "MARTLET_")
            try checkRetries(environment["MARTLET_RETRY"])
        } catch {
            exit(program.fail(error, arguments))
        }
        exit(await program.run(arguments, environment: environment))
    }

    /// Checks `MARTLET_RETRY`, which the library reads without reporting errors.
    private static func checkRetries(_ value: String?) throws(UsageError) {
        guard let value, !["", "on", "off"].contains(value) else { return }
        throw UsageError("MARTLET_RETRY must be on or off (found \(ShownValue.quoted(value)))")
    }
}

extension Command {
    /// Prints a completion script.
    static let completion: Command = Command(
        "completion",
        "Print a completion script for a shell",
        examples: [
            "completion bash > /etc/bash_completion.d/martlet", "completion zsh > ~/.zsh/functions/_martlet",
            "completion fish > ~/.config/fish/completions/martlet.fish",
        ],
        Argument<Shell>("shell", "Shell"),
        OutputFormat.declared
    ) { shell, output in
        let script = MartletProgram.program.completion(for: shell)
        output.write(json: ["shell": .string(shell.rawValue), "script": .string(script)], text: script)
    }

    /// Prints the manual page.
    static let manual: Command = Command(
        "manual",
        "Print the manual page in roff, for man",
        examples: ["manual > /usr/local/share/man/man1/martlet.1", "manual | man -l -"],
        OutputFormat.declared
    ) { output in
        let page = MartletProgram.program.manual(version: MartletVersion.current)
        output.write(json: ["manual": .string(page)], text: page)
    }
}
