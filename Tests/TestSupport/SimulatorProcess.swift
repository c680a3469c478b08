// SPDX-License-Identifier: Apache-2.0

/// A `martlet simulate` process, whose memory and descriptors can be measured separately.
package final class SimulatorProcess: Sendable {
    package let port: UInt16
    package let channelPort: UInt16
    package let inboxPort: UInt16
    /// The certificate of the authority that clients must trust; nil without TLS.
    package let authorityPEM: String?
    private let process: MartletProcess
    /// The directory of the authority's files.
    private let scratch: ScratchDirectory

    /// Starts the simulator and waits until it is ready.
    package init(isEncrypted: Bool = false, _ more: String...) async throws {
        scratch = try ScratchDirectory()
        let trust = isEncrypted ? ["--ca-directory", scratch.path + "/ca"] : ["--h2c"]
        let arguments = ["simulate", "--port", "0", "--channel-port", "0", "--inbox-port", "0"] + trust + more
        process = try await MartletProcess(arguments)
        let ports = process.readyOutput.matches(of: /(?:localhost:|at port )([0-9]+)/).compactMap { UInt16($0.1) }
        guard ports.count >= 3 else { throw MissingProgram(name: "martlet: \(process.readyOutput)") }
        (port, channelPort, inboxPort) = (ports[0], ports[1], ports[2])
        authorityPEM = isEncrypted ? try scratch.read("ca/ca.pem") : nil
    }

    /// Kills the simulator with SIGKILL.
    package func kill() {
        process.kill()
    }

    /// Whether the simulator runs.
    package var isRunning: Bool { process.isRunning }
    /// The resident memory in bytes; nil if it cannot be measured.
    package var memory: Int? { process.memory }
    /// The processor time that the process has used; nil if it cannot be measured.
    package var processorTime: Duration? { process.processorTime }
}
