// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import TestSupport
import Testing

/// Tests of a relay that cannot store pushes: it reports the reason and loses no accepted push.
@Suite(.timeLimit(.minutes(10))) struct StorageFailureTests {
    /// A problem with the outbox file, with a part of the expected message.
    enum FileProblem: String, CaseIterable, Sendable {
        case isNoDatabase = "is not a database"
        case isDamaged = "malformed"
        case hasNoDirectory = "No such file or directory"
        case isADirectory = "cannot open"
    }

    private func relay(in directory: String? = nil) async throws -> RelayProcess {
        // The port has no listener: the relay only stores pushes.
        try await RelayProcess(
            to: ["host": "127.0.0.1", "port": Int(try SilentServer.unusedPort().port), "clear": true],
            dataDirectory: directory,
            ["answer-seconds": 0]
        )
    }

    @Test(arguments: FileProblem.allCases) func `the error for an unusable file names the reason`(problem: FileProblem)
        async throws
    {
        let scratch = try ScratchDirectory()
        let relay = try await relay(in: scratch.path + (problem == .hasNoDirectory ? "/nowhere" : ""))
        let file = scratch.path + "/relay.sqlite"
        switch problem {
        case .isNoDatabase: try scratch.write(String(repeating: "no database", count: 1_000), to: "relay.sqlite")
        case .isDamaged:
            try await relay.start()
            #expect(await relay.stop() == 0)
            var bytes = Array(try Data(contentsOf: URL(filePath: file)))
            for index in bytes.indices.dropFirst(100) { bytes[index] = 0xA5 }
            try scratch.write(bytes, to: "relay.sqlite")
        case .hasNoDirectory: break
        case .isADirectory: try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        }
        let run = try await ProgramRun(MartletProcess.program, relay.arguments)
        #expect(run.status == 1 && run.errorOutput.contains("the outbox \(scratch.path)"), "\(run.errorOutput)")
        #expect(run.errorOutput.contains(problem.rawValue), "\(run.errorOutput)")
        guard problem == .isDamaged || problem == .isNoDatabase else { return }
        let lines = run.errorOutput.split(separator: "\n").map { try? JSONReader.read(Array($0.utf8)) }
        let line = try #require(lines.last ?? nil, "\(run.errorOutput)")
        #expect(line["msg"] == "relay not started" && line["level"] == "error", "\(run.errorOutput)")
        #expect(line["error"]?.stringValue?.contains("damaged") == true, "\(run.errorOutput)")
        #expect(line["action"]?.stringValue?.contains("martlet relay backup") == true, "\(run.errorOutput)")
    }

    @Test func `a relay waits for an outbox file in use, and takes it over`() async throws {
        let scratch = try ScratchDirectory()
        let first = try await relay(in: scratch.path)
        let second = try await relay(in: scratch.path)
        try await first.start()
        #expect(await store(3, in: first).count == 3)
        try await second.start()
        let ready = await second.ask([RawHTTP1.Request("GET", "/readyz")]).first
        #expect(ready?.status == 503 && ready?.body.contains("another relay has the outbox") == true, "\(ready as Any)")
        #expect(await store(1, in: second).isEmpty)
        #expect(await first.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status == 200)
        #expect(await first.stop() == 0)
        try await eventually("the second relay is ready") {
            await second.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status == 200
        }
        let status = try #require(await second.ask([RawHTTP1.Request("GET", "/v1/status")]).first)
        #expect(status.body.contains(#""backlog":3"#), "\(status.body)")
        #expect(await second.stop() == 0)
    }

    @Test(.enabled(if: mayMount, "requires root to mount a small file system"))
    func `a relay restarts on a full disk, reports it, and loses no push`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.errorOutput)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        try await relay.start()
        var accepted: [String] = []
        while case let more = await store(10, in: relay), !more.isEmpty { accepted += more }
        relay.kill()
        let filler = try #require(FileHandle(forWritingAtPath: try disk.write("", to: "filler")))
        while (try? filler.write(contentsOf: Data(count: 1))) != nil {}
        try await relay.start()
        let ready = try #require(await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first)
        #expect(ready.status == 503 && ready.body.contains("full"), "\(ready)")
        #expect(await relay.ask([RawHTTP1.Request("GET", "/livez")]).first?.status == 200)
        #expect(await store(1, in: relay).isEmpty)
        #expect(try await ProgramRun("mount", ["-o", "remount,size=64m", disk.path]).status == 0)
        try await eventually("the relay is ready again") {
            await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status == 200
        }
        let known = await relay.ask(accepted.map { RawHTTP1.Request("GET", $0) })
        #expect(accepted.count > 50 && known.count == accepted.count && known.allSatisfy { $0.status == 200 })
        #expect(await relay.stop() == 0)
    }

    /// Whether this process can mount file systems.
    private static let mayMount = geteuid() == 0

    @Test(.enabled(if: mayMount, "requires root to mount a small file system"))
    func `a relay on a full disk asks callers to retry, and loses no push`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.errorOutput)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        try await relay.start()
        let filling = String(repeating: "x", count: 3_500)
        func push(_ number: Int) -> RawHTTP1.Request {
            let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(filling)"}}}"#
            return RawHTTP1.Request("POST", "/v1/pushes", ["idempotency-key: \(number)"], body: body)
        }
        var accepted: [String] = []
        var refusal: RawHTTP1.Answer?
        for number in 0..<2_000 where refusal == nil {
            let answer = try #require(await relay.ask([push(number)]).first)
            if answer.status == 202, let location = answer.fields["location"] {
                accepted.append(location)
            } else {
                refusal = answer
            }
        }
        #expect(refusal?.status == 503 && refusal?.fields["retry-after"] != nil, "\(accepted.count): \(refusal as Any)")
        let client = try client(of: relay)
        let error = await #expect(throws: APNsError.self) {
            try await client.send(
                .alert(PushNotification.Alert(title: "Hi", body: filling)),
                to: DeviceToken(hex: "5d3a6a1c"),
                topic: "com.example.app"
            )
        }
        #expect(error?.status == 503 && error?.reason == .serviceUnavailable && error?.retryAfter != nil)
        // Check right after a push: the relay's own periodic writes are smaller and may still succeed.
        let ready = try #require(await relay.ask([push(4_000), RawHTTP1.Request("GET", "/readyz")]).last)
        #expect(ready.status == 503 && ready.body.contains("pushes cannot be stored"), "\(ready)")
        #expect(await relay.ask([RawHTTP1.Request("GET", "/livez")]).first?.status == 200)
        // The relay resumes without a restart when there is free space.
        #expect(try await ProgramRun("mount", ["-o", "remount,size=64m", disk.path]).status == 0)
        var answer: RawHTTP1.Answer?
        try await eventually("the relay stores pushes again") {
            answer = await relay.ask([push(5_000)]).first
            return answer?.status != 503
        }
        #expect(answer?.status == 202)
        let receipt = try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a6a1c"), topic: "com.example.app")
        accepted.append("/v1/pushes/\(receipt.id)")
        await client.close()
        relay.kill()
        try await relay.start()
        let known = await relay.ask(accepted.map { RawHTTP1.Request("GET", $0) })
        #expect(accepted.count > 50 && known.count == accepted.count && known.allSatisfy { $0.status == 200 })
        #expect(await relay.stop() == 0)
    }

    /// Creates an APNs client that sends to the relay.
    private func client(of relay: RelayProcess) throws -> PushClient {
        let key = try SigningKey(pem: relay.keyPEM, keyID: RelayProcess.keyID, teamID: RelayProcess.teamID)
        return try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: relay.port, isEncrypted: false),
            authentication: .token(key),
            configuration: .init(retry: .none)
        )
    }

    /// Sends pushes and returns the paths of their status for the accepted ones.
    private func store(_ count: Int, in relay: RelayProcess) async -> [String] {
        let filling = String(repeating: "x", count: 3_500)
        let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(filling)"}}}"#
        let requests = (0..<count).map { _ in RawHTTP1.Request("POST", "/v1/pushes", body: body) }
        return await relay.ask(requests).filter { $0.status == 202 }.compactMap { $0.fields["location"] }
    }

    @Test(.enabled(if: mayMount, "requires root to mount a file system"))
    func `the error for a read-only disk names the reason, and no push is lost`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.errorOutput)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        for makesFile in [false, true] {
            if makesFile {
                #expect(try await ProgramRun("mount", ["-o", "remount,rw", disk.path]).status == 0)
                try await relay.start()
                #expect(await store(20, in: relay).count == 20)
                relay.kill()
            }
            #expect(try await ProgramRun("mount", ["-o", "remount,ro", disk.path]).status == 0)
            let run = try await ProgramRun(MartletProcess.program, relay.arguments)
            #expect(run.status == 1 && run.errorOutput.contains("the outbox \(disk.path)"), "\(run.errorOutput)")
            #expect(run.errorOutput.contains(makesFile ? "cannot write to" : "cannot open"), "\(run.errorOutput)")
        }
        #expect(try await ProgramRun("mount", ["-o", "remount,rw", disk.path]).status == 0)
        try await relay.start()
        let status = try #require(await relay.ask([RawHTTP1.Request("GET", "/v1/status")]).first)
        #expect(status.body.contains(#""backlog":20"#), "\(status.body)")
        #expect(await relay.stop() == 0)
    }

    @Test(arguments: [0.4, 0.6, 0.9]) func `a relay accepts no pushes into a damaged file`(position: Double)
        async throws
    {
        let scratch = try ScratchDirectory()
        let relay = try await relay(in: scratch.path)
        try await relay.start()
        let accepted = await store(200, in: relay)
        #expect(accepted.count == 200)
        #expect(await relay.stop() == 0)
        let good = Array(try Data(contentsOf: URL(filePath: scratch.path + "/relay.sqlite")))
        var bytes = good
        let start = Int(Double(good.count) * position)
        for index in start..<min(good.count, start + 40_000) { bytes[index] = 0xA5 }
        try scratch.write(bytes, to: "relay.sqlite")
        do {
            try await relay.start()
            var ready: RawHTTP1.Answer?
            try await eventually("the relay notices the damage") {
                ready = await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first
                return ready?.status != 200
            }
            #expect(ready?.status == 503 && ready?.body.contains("damaged") == true, "\(ready as Any)")
            #expect(await store(20, in: relay).isEmpty, "a push accepted now might be lost")
            relay.kill()
        } catch let refusal as MissingProgram {
            #expect("\(refusal)".contains("damaged") || "\(refusal)".contains("malformed"), "\(refusal)")
        }
        for name in ["relay.sqlite-wal", "relay.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: scratch.path + "/" + name)
        }
        try scratch.write(good, to: "relay.sqlite")
        try await relay.start()
        let known = await relay.ask(accepted.map { RawHTTP1.Request("GET", $0) })
        #expect(known.count == accepted.count && known.allSatisfy { $0.status == 200 })
        relay.kill()
    }
}
