// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletSimulator
import TestSupport
import Testing

/// Tests of `healthcheck` and `ca`.
@Suite(.timeLimit(.minutes(10))) struct HealthcheckTests {
    private static let martlet = MartletProcess.program

    private func martlet(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun(Self.martlet, arguments)
    }

    private func address(_ port: UInt16) -> String { "http://127.0.0.1:\(port)/readyz" }

    @Test func `a simulator that accepts pushes is ready`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let port = try #require(await apns.inboxPort)
        for url in [address(port), "http://localhost:\(port)", "localhost:\(port)"] {
            let run = try await martlet("healthcheck", "--url", url, "--wait", "30")
            #expect(run.status == 0 && run.text.hasSuffix("\(url) is ready\n"), "\(run.errorOutput)")
        }
        let elsewhere = try await martlet("healthcheck", "--url", "http://127.0.0.1:\(port)/nowhere")
        #expect(elsewhere.status == 1 && elsewhere.errorOutput.contains("status 404; check --url"))
        await apns.stop()
        let stopped = try await martlet("healthcheck", "--url", address(port))
        #expect(stopped.status == 3)
    }

    @Test func `--wait waits for a simulator that starts later`() async throws {
        let scratch = try ScratchDirectory()
        let reserved = try SilentServer.unusedPort()
        let port = reserved.port
        let check = try ChildProcess(
            Self.martlet,
            ["healthcheck", "--url", address(port), "--wait", "50"],
            output: scratch.path + "/check"
        )
        defer { check.kill() }
        _ = consume reserved
        let simulator = try ChildProcess(
            Self.martlet,
            ["simulate", "--port", "0", "--inbox-port", "\(port)", "--ca-directory", scratch.path]
        )
        defer { simulator.kill() }
        #expect(await check.ended() == 0)
        #expect(try scratch.read("check").contains("is ready"))
    }

    @Test func `a refused connection is reported with advice`() async throws {
        let reserved = try SilentServer.unusedPort()
        for wait in [[], ["--wait", "1"]] {
            let run = try await ProgramRun(
                Self.martlet,
                ["healthcheck", "--url", address(reserved.port)] + wait
            )
            #expect(run.status == 3)
            #expect(run.errorOutput.contains("is not ready: cannot connect to 127.0.0.1:\(reserved.port)"))
            #expect(run.errorOutput.contains("start martlet simulate"), "\(run.errorOutput)")
        }
    }

    @Test func `a server that does not answer times out`() async throws {
        let silent = try SilentServer()
        let run = try await martlet("healthcheck", "--url", address(silent.port), "--wait", "1")
        #expect(run.status == 3)
        #expect(run.errorOutput.contains("127.0.0.1:\(silent.port) did not respond in time"), "\(run.errorOutput)")
    }

    @Test(arguments: [
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "status 503; wait with --wait 30"),
        (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 15\r\n\r\n"
                + "starting\n\u{1b}[31m\n",
            "status 503 (starting); wait with --wait 30"
        ),
        ("HTTP/1.1 200", "closed the connection without a response"), ("", "closed the connection without a response"),
        ("\u{16}\u{3}\u{1} no HTTP\n", "did not send an HTTP/1 response"),
        (String(repeating: "x", count: 3_000), "did not send an HTTP/1 response"), ("HTTP/1.0 200 OK\r\n\r\n", ""),
    ])
    func `only a status of 200 is ready`(answer: String, error: String) async throws {
        let server = try SilentServer()
        server.answerOnce(with: Array(answer.utf8))
        let run = try await martlet("healthcheck", "--url", address(server.port))
        #expect(run.status == (error.isEmpty ? 0 : error.contains("503") ? 1 : 3))
        #expect(error.isEmpty || run.errorOutput.contains(error), "\(run.errorOutput)")
    }

    @Test(arguments: [
        (["healthcheck", "--url", "ftp://localhost:8197"], "begins with http://"),
        (["healthcheck", "--url", "http://localhost:x/"], "port"),
        (["healthcheck", "--url", "http://localhost/a b"], "space"),
        (["healthcheck", "--wait", "4000"], "from 0 to 3600"), (["ca"], "ca print"),
    ])
    func `invalid usage is reported with the rule`(arguments: [String], explanation: String) async throws {
        let run = try await ProgramRun(Self.martlet, arguments)
        #expect(run.status == 2 && run.errorOutput.contains(explanation), "\(run.errorOutput)")
    }

    // MARK: ca

    @Test func `the authority is created in --ca-directory, and the simulator uses it`() async throws {
        let scratch = try ScratchDirectory()
        let options = ["--ca-directory", scratch.path + "/ca", "--name", "apns"]
        let path = try await ProgramRun(Self.martlet, ["ca", "path"] + options)
        #expect(path.status == 0 && path.text == scratch.path + "/ca/ca.pem\n", "\(path.errorOutput)")
        let printed = try await ProgramRun(Self.martlet, ["ca", "print"] + options)
        #expect(try printed.text == scratch.read("ca/ca.pem"))
        let other = try await ProgramRun(
            Self.martlet,
            ["simulate", "--port", "0", "--inbox-port", "0", "--ca-directory", scratch.path + "/ca", "--name", "other"]
        )
        #expect(other.status == 2 && other.errorOutput.contains("was created without other"), "\(other.errorOutput)")
    }
}
