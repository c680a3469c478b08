import APNs
import Commands

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

/// The command `martlet`: parses words, calls the modules, prints.
@main
struct Martlet {
    static let program = Program(
        "martlet",
        version: MartletVersion.current,
        "sends pushes through Apple's push service, and stands in for it on your own machine",
        commands: [
            .demo, .send, .liveStart, .liveUpdate, .liveEnd, .broadcast, .channelsCreate, .channelsRead, .channelsList,
            .channelsDelete, .surfaceValidate, .surfaceProject, .surfaceMigrate, .surfaceSchema, .surfaceExample,
            .simulate, .relay, .relayCheck, .relayMigrate, .relayKeysMake, .relayStatus, .relayApps, .relayDeadLetters,
            .relayDrain,
            .authorityPath, .authorityPrint, .healthcheck, .token,
            .doctor,
        ]
    )

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await program.run(arguments, environment: ProcessInfo.processInfo.environment))
    }
}
