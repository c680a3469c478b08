import Commands
import Outbox
import Relay
import Wire

extension Command {
    /// Keeps a relay running until it is told to stop.
    static let relay = Command(
        "relay",
        "Take pushes from any APNs client, keep them, and deliver each to Apple: nothing that is taken is lost",
        examples: [
            "relay --configuration relay.json", "relay --data /var/lib/martlet/relay.sqlite --http 127.0.0.1:8198",
        ],
        RelayOptions.declared
    ) { options in
        let configuration = try options.configuration()
        let relay = try await PushRelay.start(configuration)
        for (environment, port) in await relay.ports.sorted(by: { $0.value < $1.value }) {
            Terminal.output.write("Takes pushes for \(environment.rawValue) on port \(port).\n")
        }
        Terminal.output.write("Control-C ends it in order.\n")
        try await TerminationSignal.received()
        await relay.stop()
    }
}
