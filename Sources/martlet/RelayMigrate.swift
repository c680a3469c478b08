import Commands
import Outbox
import Relay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Makes the tables that relays share, and moves into them what one relay has kept alone.
    static let relayMigrate = Command(
        "relay migrate",
        "Make the tables of the relay's database, or bring them up to date; move there what a file holds",
        examples: [
            "relay migrate --configuration relay.json",
            "relay migrate --data postgresql://relay@db1,db2/push --from /var/lib/martlet/relay.sqlite",
        ],
        Option("--configuration", "JSON file whose data names the database", default: "relay.json"),
        Option<String?>("--data", "Address of the database, in place of the configuration's"),
        Option<String?>("--from", "File of a relay that has ended, whose pushes and feeds move into the database")
    ) { configuration, data, file in
        let place = try data.map(OutboxPlace.init) ?? RelayConfiguration(file: configuration).data
        guard case .database(let address) = place else {
            throw UsageError("\(place) is a file, which needs no tables: data has to begin with postgresql://")
        }
        try await PostgreSQLOutbox.migrate(address)
        Terminal.output.write("The tables in \(place) are those of this version.\n")
        guard let file else { return }
        let move = try await OutboxMove(from: file, to: address)
        let account = try await move.run(at: Int64(Date().timeIntervalSince1970 * 1_000)) { account in
            guard Terminal.errors.isInteractive else { return }
            Terminal.errors.write("\r\(account.pushes) pushes, \(account.outcomes) outcomes moved")
        }
        if Terminal.errors.isInteractive { Terminal.errors.write("\r\u{1B}[K") }
        Terminal.output.write(
            "Moved from \(file): \(account.pushes) pushes, \(account.outcomes) outcomes, "
                + "\(account.deadTokens) dead tokens.\n"
        )
    }
}
