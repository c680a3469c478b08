/// `martlet simulate` in a process of its own, so that what it takes of memory and descriptors can be told.
package final class SimulatorProcess: Sendable {
    package let port: UInt16
    package let channelPort: UInt16
    package let inboxPort: UInt16
    /// What clients have to trust; nil in the clear.
    package let authorityPEM: String?
    private let process: MartletProcess
    /// Where its authority lies.
    private let scratch: ScratchDirectory

    /// Starts the program that was built with these tests and waits until it listens.
    package init(isEncrypted: Bool = false, _ more: String...) async throws {
        scratch = try ScratchDirectory()
        let trust = isEncrypted ? ["--ca-directory", scratch.path + "/ca"] : ["--h2c"]
        let arguments = ["simulate", "--port", "0", "--channel-port", "0", "--inbox-port", "0"] + trust + more
        process = try await MartletProcess(arguments)
        let ports = process.words.matches(of: /(?:localhost:|at port )([0-9]+)/).compactMap { UInt16($0.1) }
        guard ports.count >= 3 else { throw MissingProgram(name: "martlet, which says: \(process.words)") }
        (port, channelPort, inboxPort) = (ports[0], ports[1], ports[2])
        authorityPEM = isEncrypted ? try scratch.read("ca/ca.pem") : nil
    }

    /// Ends it, whatever it does.
    package func kill() {
        process.kill()
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { process.isRunning }
    /// Bytes of memory it has at the moment; nil where that cannot be told.
    package var memory: Int? { process.memory }
}
