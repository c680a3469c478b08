import Foundation
import Martlet
import MartletCore
import TestSupport
import Testing

/// What the relay does when it cannot keep pushes: it says so in words, and loses nothing that it has taken.
@Suite(.timeLimit(.minutes(1))) struct StorageFailureTests {
    /// A file that cannot be used, and what is said of it.
    enum Trouble: String, CaseIterable, Sendable {
        case isNoDatabase = "is not a database"
        case isDamaged = "malformed"
        case hasNoDirectory = "No such file or directory"
        case isADirectory = "cannot open"
    }

    private func relay(in directory: String? = nil) async throws -> RelayProcess {
        // Nobody has to answer: nothing is sent.
        try await RelayProcess(
            to: ["host": "127.0.0.1", "port": Int(try SilentServer.unusedPort().port), "clear": true],
            dataDirectory: directory,
            ["answer-seconds": 0]
        )
    }

    @Test(arguments: Trouble.allCases) func `a file that cannot be used is refused in words`(trouble: Trouble)
        async throws
    {
        let scratch = try ScratchDirectory()
        let relay = try await relay(in: scratch.path + (trouble == .hasNoDirectory ? "/nowhere" : ""))
        let file = scratch.path + "/relay.sqlite"
        switch trouble {
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
        #expect(run.status == 1 && run.complaint.contains("the outbox \(scratch.path)"), "\(run.complaint)")
        #expect(run.complaint.contains(trouble.rawValue), "\(run.complaint)")
    }

    @Test func `a relay whose file another relay has says so, and takes over when that one stops`() async throws {
        let scratch = try ScratchDirectory()
        let first = try await relay(in: scratch.path)
        let second = try await relay(in: scratch.path)
        try await first.start()
        #expect(await keep(3, in: first).count == 3)
        try await second.start()
        let ready = await second.ask([RawHTTP1.Request("GET", "/readyz")]).first
        #expect(ready?.status == 503 && ready?.body.contains("another relay has the outbox") == true, "\(ready as Any)")
        #expect(await keep(1, in: second).isEmpty)
        #expect(await first.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status == 200)
        #expect(await first.stop() == 0)
        while await second.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status != 200 {}
        let status = try #require(await second.ask([RawHTTP1.Request("GET", "/v1/status")]).first)
        #expect(status.body.contains(#""backlog":3"#), "\(status.body)")
        #expect(await second.stop() == 0)
    }

    @Test(.enabled(if: mayMount, "only root can make a disk that is small enough to fill"))
    func `a relay that was killed on a full disk starts, says so, and loses nothing`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.complaint)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        try await relay.start()
        var kept: [String] = []
        while case let more = await keep(10, in: relay), !more.isEmpty { kept += more }
        relay.kill()
        let filler = try #require(FileHandle(forWritingAtPath: try disk.write("", to: "filler")))
        while (try? filler.write(contentsOf: Data(count: 1))) != nil {}
        try await relay.start()
        let ready = try #require(await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first)
        #expect(ready.status == 503 && ready.body.contains("full"), "\(ready)")
        #expect(await relay.ask([RawHTTP1.Request("GET", "/livez")]).first?.status == 200)
        #expect(await keep(1, in: relay).isEmpty)
        #expect(try await ProgramRun("mount", ["-o", "remount,size=64m", disk.path]).status == 0)
        while await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first?.status != 200 {}
        let known = await relay.ask(kept.map { RawHTTP1.Request("GET", $0) })
        #expect(kept.count > 50 && known.count == kept.count && known.allSatisfy { $0.status == 200 })
        #expect(await relay.stop() == 0)
    }

    /// Whether this process may make a disk of its own.
    private static let mayMount = geteuid() == 0

    @Test(.enabled(if: mayMount, "only root can make a disk that is small enough to fill"))
    func `a disk that is full has callers come again, and loses nothing`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.complaint)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        try await relay.start()
        let stuffing = String(repeating: "x", count: 3_500)
        func push(_ number: Int) -> RawHTTP1.Request {
            let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(stuffing)"}}}"#
            return RawHTTP1.Request("POST", "/v1/pushes", ["idempotency-key: \(number)"], body: body)
        }
        var kept: [String] = []
        var refusal: RawHTTP1.Answer?
        for number in 0..<2_000 where refusal == nil {
            let answer = try #require(await relay.ask([push(number)]).first)
            if answer.status == 202, let location = answer.fields["location"] {
                kept.append(location)
            } else {
                refusal = answer
            }
        }
        #expect(refusal?.status == 503 && refusal?.fields["retry-after"] != nil, "\(kept.count): \(refusal as Any)")
        let client = try client(of: relay)
        let error = await #expect(throws: APNsError.self) {
            try await client.send(
                .alert(Alert(title: "Hi", body: stuffing)),
                to: DeviceToken(hex: "5d3a6a1c"),
                topic: "com.example.app"
            )
        }
        #expect(error?.status == 503 && error?.reason == .serviceUnavailable && error?.retryAfter != nil)
        // Asked right after a push: what the relay writes by itself now and then is smaller, and may still have room.
        let ready = try #require(await relay.ask([push(4_000), RawHTTP1.Request("GET", "/readyz")]).last)
        #expect(ready.status == 503 && ready.body.contains("pushes cannot be stored"), "\(ready)")
        #expect(await relay.ask([RawHTTP1.Request("GET", "/livez")]).first?.status == 200)
        // There is room again, and the relay finds out by itself.
        #expect(try await ProgramRun("mount", ["-o", "remount,size=64m", disk.path]).status == 0)
        var answer: RawHTTP1.Answer?
        repeat { answer = await relay.ask([push(5_000)]).first } while answer?.status == 503
        #expect(answer?.status == 202)
        let receipt = try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a6a1c"), topic: "com.example.app")
        kept.append("/v1/pushes/\(receipt.id)")
        await client.close()
        relay.kill()
        try await relay.start()
        let known = await relay.ask(kept.map { RawHTTP1.Request("GET", $0) })
        #expect(kept.count > 50 && known.count == kept.count && known.allSatisfy { $0.status == 200 })
        #expect(await relay.stop() == 0)
    }

    /// A client of APNs that takes the relay for Apple.
    private func client(of relay: RelayProcess) throws -> PushClient {
        let key = try SigningKey(pem: relay.keyPEM, keyID: RelayProcess.keyID, teamID: RelayProcess.teamID)
        return try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: relay.port, isEncrypted: false),
            authentication: .token(key),
            configuration: .init(retry: .none)
        )
    }

    /// Hands in pushes, and tells where what is known of them can be asked for.
    private func keep(_ count: Int, in relay: RelayProcess) async -> [String] {
        let stuffing = String(repeating: "x", count: 3_500)
        let body = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(stuffing)"}}}"#
        let requests = (0..<count).map { _ in RawHTTP1.Request("POST", "/v1/pushes", body: body) }
        return await relay.ask(requests).filter { $0.status == 202 }.compactMap { $0.fields["location"] }
    }

    @Test(.enabled(if: mayMount, "only root can make a disk that is not to be written to"))
    func `a disk that is not to be written to is refused in words, and keeps what it has`() async throws {
        let disk = try ScratchDirectory()
        let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk.path])
        try #require(mount.status == 0, "\(mount.complaint)")
        defer { _ = try? ChildProcess("umount", ["--lazy", disk.path]).wait() }
        let relay = try await relay(in: disk.path)
        for makesFile in [false, true] {
            if makesFile {
                #expect(try await ProgramRun("mount", ["-o", "remount,rw", disk.path]).status == 0)
                try await relay.start()
                #expect(await keep(20, in: relay).count == 20)
                relay.kill()
            }
            #expect(try await ProgramRun("mount", ["-o", "remount,ro", disk.path]).status == 0)
            let run = try await ProgramRun(MartletProcess.program, relay.arguments)
            #expect(run.status == 1 && run.complaint.contains("the outbox \(disk.path)"), "\(run.complaint)")
            #expect(run.complaint.contains(makesFile ? "cannot write to" : "cannot open"), "\(run.complaint)")
        }
        #expect(try await ProgramRun("mount", ["-o", "remount,rw", disk.path]).status == 0)
        try await relay.start()
        let status = try #require(await relay.ask([RawHTTP1.Request("GET", "/v1/status")]).first)
        #expect(status.body.contains(#""backlog":20"#), "\(status.body)")
        #expect(await relay.stop() == 0)
    }

    @Test(arguments: [0.4, 0.6, 0.9]) func `a file that is damaged in part takes no more pushes`(place: Double)
        async throws
    {
        let scratch = try ScratchDirectory()
        let relay = try await relay(in: scratch.path)
        try await relay.start()
        let kept = await keep(200, in: relay)
        #expect(kept.count == 200)
        #expect(await relay.stop() == 0)
        let good = Array(try Data(contentsOf: URL(filePath: scratch.path + "/relay.sqlite")))
        var bytes = good
        let start = Int(Double(good.count) * place)
        for index in start..<min(good.count, start + 40_000) { bytes[index] = 0xA5 }
        try scratch.write(bytes, to: "relay.sqlite")
        do {
            try await relay.start()
            var ready: RawHTTP1.Answer?
            repeat { ready = await relay.ask([RawHTTP1.Request("GET", "/readyz")]).first } while ready?.status == 200
            #expect(ready?.status == 503 && ready?.body.contains("malformed") == true, "\(ready as Any)")
            #expect(await keep(20, in: relay).isEmpty, "what is handed in now might be lost")
            relay.kill()
        } catch let refusal as MissingProgram {
            #expect("\(refusal)".contains("malformed"), "\(refusal)")
        }
        for name in ["relay.sqlite-wal", "relay.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: scratch.path + "/" + name)
        }
        try scratch.write(good, to: "relay.sqlite")
        try await relay.start()
        let known = await relay.ask(kept.map { RawHTTP1.Request("GET", $0) })
        #expect(known.count == kept.count && known.allSatisfy { $0.status == 200 })
        relay.kill()
    }
}
