import APNs
import Commands
import Outbox
import Relay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Creates the tables that several relays share, and moves the content of a file into them.
    static let relayMigrate = Command(
        "relay migrate",
        "Create or update the tables of the relay's database, and move the content of a file there",
        examples: [
            "relay migrate --configuration relay.json",
            "relay migrate --data postgresql://relay@db1,db2/push --from /var/lib/martlet/relay.sqlite",
        ],
        RelayOptions.configurationFile,
        RelayOptions.data,
        Option<FilePath?>("--from", "File of a stopped relay, whose pushes and outcomes move into the database"),
        OutputFormat.declared
    ) { configuration, data, file, output in
        let place = try data.map { OutboxPlace($0.path) } ?? RelayOptions.place(in: configuration)
        guard case .database(let address) = place else {
            throw UsageError("\(place) is a file: data must begin with postgresql://")
        }
        try await PostgreSQLOutbox.migrate(address)
        guard let file else {
            return output.write(
                json: ["database": .string("\(place)")],
                text: "The tables in \(place) are those of this version.\n"
            )
        }
        if !output.isJSON { Terminal.output.write("The tables in \(place) are those of this version.\n") }
        let move = try await OutboxMove(from: file.path, to: address)
        let account = try await move.run(at: Int64(Date().timeIntervalSince1970 * 1_000)) { account in
            guard Terminal.errors.isInteractive else { return }
            Terminal.errors.write("\r\(account.pushes) pushes, \(account.outcomes) outcomes moved")
        }
        if Terminal.errors.isInteractive { Terminal.errors.write("\r\u{1B}[K") }
        output.write(
            json: [
                "database": .string("\(place)"), "pushes": .number(JSONNumber(Int64(account.pushes))),
                "outcomes": .number(JSONNumber(Int64(account.outcomes))),
                "dead-tokens": .number(JSONNumber(Int64(account.deadTokens))),
            ],
            text: "Moved from \(file.path): \(account.pushes) pushes, \(account.outcomes) outcomes, "
                + "\(account.deadTokens) dead tokens.\n"
        )
    }
}

extension RelayOptions {
    /// Returns the location of the outbox in a configuration.
    fileprivate static func place(in configuration: InputFile) throws(UsageError) -> OutboxPlace {
        do throws(RelayError) {
            return try RelayConfiguration(file: configuration.path).data
        } catch {
            throw UsageError("\(error)")
        }
    }
}
