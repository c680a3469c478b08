// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletOutbox
import Synchronization
import TestSupport
import Testing

/// The engine of one machine when its disk is full, when another process has its file, and when it is copied.
@Suite(.timeLimit(.minutes(10))) struct SQLiteFailureTests {
    /// A disk in memory, unmounted with this object.
    private final class SmallDisk: Sendable {
        let scratch: ScratchDirectory
        var path: String { scratch.path }

        init(megabytes: Int) async throws {
            scratch = try ScratchDirectory()
            let mount = try await ProgramRun("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path])
            try #require(mount.status == 0, "\(mount.errorOutput)")
        }

        /// Fills the disk to the last byte.
        func fill() throws {
            guard let file = FileHandle(forWritingAtPath: try scratch.write("", to: "filler")) else { return }
            for size in [65_536, 4_096, 1] {
                while (try? file.write(contentsOf: Data(count: size))) != nil {}
            }
        }

        func makeRoom() throws { try FileManager.default.removeItem(atPath: path + "/filler") }

        deinit { _ = try? ChildProcess("umount", ["--lazy", path]).wait() }
    }

    private static let mayMount = geteuid() == 0

    /// The error of a call; nil when it succeeds.
    private func failure(of store: SQLiteOutbox, accepting number: UInt64) async throws -> OutboxError? {
        let push = try OutboxPush.numbered(number)
        do throws(OutboxError) {
            _ = try await store.accept([push], at: 1_000)
            return nil
        } catch {
            return error
        }
    }

    @Test(.enabled(if: mayMount, "only root can make a disk that is small enough to fill"))
    func `a disk that is full at the start is used when it has space`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        let pushes = try (1...50).map { try OutboxPush.numbered($0, payload: String(repeating: "x", count: 3_500)) }
        #expect(try await store.accept(pushes, at: 1_000).allSatisfy { $0 == .accepted })
        let sent = try await store.claim(.orders, .immediate, limit: 10, at: 1_000).pushes
        // As a process that was killed leaves it, on a disk without room.
        let disk = try await SmallDisk(megabytes: 2)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: place.file + suffix, toPath: disk.path + "/outbox.sqlite" + suffix)
        }
        await store.close(isInOrder: true)
        try disk.fill()
        let full = try await SQLiteOutbox(
            file: disk.path + "/outbox.sqlite",
            options: SQLiteOutbox.Options(retriesOpening: true)
        )
        let error = try #require(try await failure(of: full, accepting: 100))
        #expect(error.kind == .full && error.description.contains("the outbox \(disk.path)"), "\(error)")
        try disk.makeRoom()
        try await eventually("the disk is used again") { try await failure(of: full, accepting: 100) == nil }
        let claimed = try await full.claimAll(at: 1_000)
        #expect(claimed.map(\.push.id) == pushes.map(\.id) + [try OutboxPush.numbered(100).id])
        #expect(claimed.prefix(sent.count).allSatisfy { $0.unknownTries == 1 }, "they may have been sent")
        await full.close(isInOrder: true)
    }

    @Test(.enabled(if: mayMount, "only root can make a disk that is small enough to fill"))
    func `stored pushes are settled on a full disk after a checkpoint`() async throws {
        let disk = try await SmallDisk(megabytes: 8)
        let store = try await SQLiteOutbox(file: disk.path + "/outbox.sqlite")
        let pushes = try (1...200).map { try OutboxPush.numbered($0, payload: String(repeating: "x", count: 3_500)) }
        _ = try await store.accept(pushes, at: 1_000)
        await store.close(isInOrder: true)
        // Now the file is large, and the log is short.
        let again = try await SQLiteOutbox(file: disk.path + "/outbox.sqlite")
        let first = try await again.claim(.orders, .immediate, limit: 20, at: 1_000).pushes
        for push in first { try await again.end(push, at: 1_000) }
        try disk.fill()
        for push in try await again.claimAll(at: 1_000) { try await again.end(push, at: 1_000) }
        for push in pushes { #expect(try await again.outcome(of: push)?.state == .delivered) }
        await again.close(isInOrder: true)
    }

    @Test func `a file in use is waited for if that is requested`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let first = try await place.open()
        let refusal = await #expect(throws: OutboxError.self) { try await place.open() }
        #expect(refusal?.kind == .inUse)
        let second = try await SQLiteOutbox(file: place.file, options: SQLiteOutbox.Options(retriesOpening: true))
        let error = try #require(try await failure(of: second, accepting: 1))
        #expect(error.kind == .inUse && error.description.contains("another relay has the outbox"), "\(error)")
        await first.close(isInOrder: true)
        try await eventually("the file is taken over") { try await failure(of: second, accepting: 1) == nil }
        await second.close(isInOrder: true)
    }

    @Test func `a store that is closed before its file could be opened stays closed`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let first = try await place.open()
        let second = try await SQLiteOutbox(file: place.file, options: SQLiteOutbox.Options(retriesOpening: true))
        await second.close(isInOrder: true)
        await first.close(isInOrder: true)
        #expect(try await failure(of: second, accepting: 1)?.kind == .closed)
        await (try await place.open()).close(isInOrder: true)
    }

    @Test func `the log is cut after a large batch`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        let payload = String(repeating: "x", count: 4_000)
        let pushes = try (1...12_000).map { try OutboxPush.numbered($0, payload: payload) }
        _ = try await store.accept(pushes, at: 1_000)
        func size() throws -> Int {
            try FileManager.default.attributesOfItem(atPath: place.file + "-wal")[.size] as? Int ?? 0
        }
        #expect(try size() > 48 << 20)
        // The relay does so every ten seconds.
        try await store.records.setCursor(1, of: "health")
        try await store.records.setCursor(2, of: "health")
        #expect(try size() <= 33 << 20)
        await store.close(isInOrder: true)
    }

    @Test(.enabled(if: mayMount, "only root can make a disk that is small enough to fill"))
    func `an outbox on a disk without room for a backup continues to store`() async throws {
        let disk = try await SmallDisk(megabytes: 20)
        let store = try await SQLiteOutbox(file: disk.path + "/outbox.sqlite")
        let payload = String(repeating: "x", count: 4_000)
        _ = try await store.accept(try (1...1_000).map { try OutboxPush.numbered($0, payload: payload) }, at: 1_000)
        let error = await #expect(throws: OutboxError.self) { try await store.backUp() }
        #expect(error?.kind == .full)
        #expect(try await failure(of: store, accepting: 9_000) == nil)
        let files = try FileManager.default.contentsOfDirectory(atPath: disk.path)
        #expect(!files.contains { $0.contains("backup") }, "\(files)")
        await store.close(isInOrder: true)
    }

    @Test func `a backup without enough space leaves nothing behind and keeps the earlier one`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try #require(try await place.open() as? SQLiteOutbox)
        let payload = String(repeating: "x", count: 4_000)
        _ = try await store.accept(try (1...2_000).map { try OutboxPush.numbered($0, payload: payload) }, at: 1_000)
        let path = try await store.backUp()
        func content() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: place.directory.path).sorted()
        }
        func size() throws -> Int? { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }
        let (before, earlier) = (try content(), try size())
        // The copy has 8 MB: there is too little space for it at once, or after some of it.
        for spaces in [[20 << 20], [100 << 20, 15 << 20]] as [[Int64]] {
            let left = Mutex(spaces)
            do throws(OutboxError) {
                _ = try await store.backUp(freeSpace: { _ in left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
                )
                Issue.record("there was enough space")
            } catch {
                #expect(error.kind == .full && error.description.contains("MB free"), "\(error)")
            }
            #expect(try content() == before)
            #expect(try size() == earlier)
        }
        await store.close(isInOrder: true)
    }

    @Test func `a backup that is made in use is whole, and marks what may be sent meanwhile`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try #require(try await place.open() as? SQLiteOutbox)
        let payload = String(repeating: "x", count: 4_000)
        let pushes = try (1...2_000).map { try OutboxPush.numbered($0, payload: payload) }
        _ = try await store.accept(pushes, at: 1_000)
        let ended = try await store.claim(.orders, .immediate, limit: 2, at: 1_000).pushes
        try await store.end(ended[0], at: 1_100)
        async let copy = store.backUp()
        var later: [OutboxPush] = []
        for number in 3_000..<3_020 as Range<UInt64> {
            let push = try OutboxPush.numbered(number)
            _ = try await store.accept([push], at: 1_200)
            later.append(push)
        }
        let path = try await copy
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"), "one file is the whole backup")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o077 == 0, "the file is its owner's alone")
        // An earlier backup is replaced.
        #expect(try await store.backUp() == path)
        await store.close(isInOrder: true)
        let restored = try await SQLiteOutbox(file: path)
        var claimed: [ClaimedPush] = []
        while case let more = try await restored.claimAll(at: 2_000), !more.isEmpty { claimed += more }
        #expect(claimed.map(\.push.id) == (pushes.dropFirst() + later).map(\.id))
        #expect(claimed.allSatisfy { $0.unknownTries == 1 })
        #expect(try await restored.outcome(of: pushes[0])?.state == .delivered)
        await restored.close(isInOrder: true)
    }
}
