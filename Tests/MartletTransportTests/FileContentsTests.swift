// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletTransport

@Suite struct FileContentsTests {
    @Test func `text that is not UTF-8 is refused, not replaced`() throws {
        let scratch = try ScratchDirectory()
        let path = try scratch.write([0x61, 0xFF, 0x0A], to: "latin")
        #expect(try FileContents.read(path) == [0x61, 0xFF, 0x0A])
        let error = #expect(throws: FileError.self) { try FileContents.text(path) }
        #expect(error?.description == "\(path) cannot be read: it is not valid UTF-8")
        #expect(try FileContents.text(scratch.write("aé", to: "text")) == "aé")
    }

    @Test func `the start of a file has the requested length, or that of a shorter file`() throws {
        let scratch = try ScratchDirectory()
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let path = try scratch.write(content, to: "file")
        for count in [0, 1, 65_536, 65_537, 200_000, 300_000] {
            #expect(try FileContents.start(of: path, byteCount: count) == Array(content.prefix(count)))
        }
    }

    @Test func `a file of more than 16 MB is rejected`() throws {
        let scratch = try ScratchDirectory()
        let limit = 16 * 1024 * 1024
        let path = try scratch.write([UInt8](repeating: 1, count: limit), to: "file")
        #expect(try FileContents.read(path).count == limit)
        let longer = try scratch.write([UInt8](repeating: 1, count: limit + 1), to: "longer")
        let error = #expect(throws: FileError.self) { try FileContents.read(longer) }
        #expect(error?.description == "\(longer) cannot be read: it is larger than 16 MB")
    }

    @Test func `a pipe is read to its end, and must have a writer`() async throws {
        let scratch = try ScratchDirectory()
        let pipe = scratch.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        let error = #expect(throws: FileError.self) { try FileContents.read(pipe, within: .milliseconds(20)) }
        #expect(error?.description == "\(pipe) cannot be read: it is a pipe to which no program writes")
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let file = try scratch.write(content, to: "file")
        let writer = try ChildProcess("sh", ["-c", "cat \"$0\" >\"$1\"", file, pipe])
        let read = try FileContents.read(pipe)
        let status = await writer.ended()
        #expect(read == content && status == 0)
    }

    @Test func `an error has the system's reason, and the directory of a relative path`() {
        let relative = #expect(throws: FileError.self) { try FileContents.read("no/such") }
        let directory = FileManager.default.currentDirectoryPath
        #expect(relative?.description == "no/such cannot be read: no such file or directory (in \(directory))")
        let absolute = #expect(throws: FileError.self) { try FileContents.createDirectory("/proc/none/deep") }
        #expect(absolute?.description.hasPrefix("/proc/none cannot be created: ") == true)
    }

    @Test func `directories and files are created once, with their permissions`() throws {
        let scratch = try ScratchDirectory()
        let directory = scratch.path + "/a/b/c"
        try FileContents.createDirectory(directory)
        try FileContents.createDirectory(directory)
        try FileContents.create(directory + "/secret", "text", mode: 0o600)
        #expect(try scratch.read("a/b/c/secret") == "text")
        let permissions = try FileManager.default.attributesOfItem(atPath: directory + "/secret")[.posixPermissions]
        #expect(permissions as? Int == 0o600)
        let error = #expect(throws: FileError.self) { try FileContents.create(directory + "/secret", "x", mode: 0o600) }
        #expect(error?.description.contains("cannot be created") == true)
        #expect(try FileContents.link(directory + "/secret", to: directory + "/other"))
        #expect(try !FileContents.link(directory + "/secret", to: directory + "/other"))
        let clash = #expect(throws: FileError.self) { try FileContents.createDirectory(directory + "/secret") }
        #expect(clash?.description.contains("cannot be created") == true)
    }
}
