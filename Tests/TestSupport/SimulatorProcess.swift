import Foundation

/// `martlet simulate` in a process of its own, so that what it takes of memory and descriptors can be told.
package final class SimulatorProcess: Sendable {
    package let port: UInt16
    package let channelPort: UInt16
    package let inboxPort: UInt16
    /// What clients have to trust; nil in the clear.
    package let authorityPEM: String?
    private let process: ChildProcess
    /// Where its output comes from and its authority lies.
    private let scratch: ScratchDirectory

    /// Starts the program that was built with these tests and waits until it listens.
    package init(isEncrypted: Bool = false, _ more: String...) async throws {
        let scratch = try ScratchDirectory()
        self.scratch = scratch
        let pipe = scratch.path + "/output"
        mkfifo(pipe, 0o600)
        // With a reader at the other end, the program need not wait for one when it opens its output.
        let output = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard output >= 0 else { throw POSIXError(.EIO) }
        let martlet = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/martlet"
        let trust = isEncrypted ? ["--ca-directory", scratch.path + "/ca"] : ["--h2c"]
        let arguments = ["simulate", "--port", "0", "--channel-port", "0", "--inbox-port", "0"] + trust + more
        process = try ChildProcess(martlet, arguments, output: pipe)
        _ = fcntl(output, F_SETFL, 0)
        let words = await withCheckedContinuation { continuation in
            Thread.detachNewThread { SimulatorProcess.read(output) { continuation.resume(returning: $0) } }
        }
        let ports = words.matches(of: /(?:localhost:|at port )([0-9]+)/).compactMap { UInt16($0.1) }
        guard ports.count >= 3 else { throw MissingProgram(name: "martlet, which says: \(words)") }
        (port, channelPort, inboxPort) = (ports[0], ports[1], ports[2])
        authorityPEM = isEncrypted ? try scratch.read("ca/ca.pem") : nil
    }

    deinit {
        process.kill()
    }

    /// Ends it, whatever it does.
    package func kill() {
        process.kill()
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { process.isRunning }
    /// Bytes of memory it has at the moment; nil where that cannot be told.
    package var memory: Int? { process.memory }

    /// Hands on what it says until it is ready, and reads the rest away, so that it need not wait.
    private static func read(_ output: CInt, _ whenReady: (String) -> Void) {
        var text: String? = ""
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Foundation.read(output, &piece, piece.count)
            guard count > 0 else { break }
            text? += String(decoding: piece[..<count], as: UTF8.self)
            if let ready = text, ready.contains("ends it") {
                whenReady(ready)
                text = nil
            }
        }
        if let text { whenReady(text) }
        close(output)
    }
}
