// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LocalAuthorityTests {
    @Test func `an authority in a directory is created once, and only the owner can read its key`() throws {
        let scratch = try ScratchDirectory()
        let directory = scratch.path + "/new/place"
        let first = try LocalAuthority(directory: directory)
        let second = try LocalAuthority(directory: directory)
        #expect(first.certificatePEM == second.certificatePEM)
        #expect(try scratch.read("new/place/ca.pem") == first.certificatePEM)
        let mode = try FileManager.default.attributesOfItem(atPath: directory + "/ca-key.pem")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `clients that trust an authority trust every simulator with it`() async throws {
        let scratch = try ScratchDirectory()
        for _ in 0..<2 {
            let authority = try LocalAuthority(directory: scratch.path)
            let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(authority: authority))
            let client = try PushClient(
                await apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: .init(additionalAuthorities: try scratch.read("ca.pem"))
            )
            try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
            await client.close()
            await apns.stop()
        }
    }

    @Test(arguments: [true, false])
    func `the HTTP interface names the file that clients must trust`(isEncrypted: Bool) async throws {
        let scratch = try ScratchDirectory()
        let authority = try LocalAuthority(directory: scratch.path)
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: isEncrypted, authority: authority)
        )
        let port = try #require(await apns.inboxPort)
        let info = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/info"]).text
        #expect(info.contains(#""authority":"\#(scratch.path)/ca.pem""#) == isEncrypted, "\(info)")
        await apns.stop()
    }

    @Test func `an authority in a relative directory has an absolute path`() async throws {
        let scratch = try ScratchDirectory()
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        let directory = String(repeating: "../", count: depth) + scratch.path.dropFirst()
        let authority = try LocalAuthority(directory: directory)
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, authority: authority))
        let port = try #require(await apns.inboxPort)
        let info = try await ProgramRun.curl(["http://127.0.0.1:\(port)/api/v1/info"]).text
        #expect(info.contains(#""authority":"/"#) && info.contains(#"/ca.pem""#), "\(info)")
        await apns.stop()
    }

    /// BoringSSL, which APNSwift uses, rejects addresses in a certificate whose authority is limited to some.
    @Test(arguments: [
        (["-servername", "localhost"], false), (["-servername", "api.push.apple.com"], false),
        (["-noservername"], true), (["-servername", "127.0.0.1"], true),
    ])
    func `a client that names a host gets a certificate without addresses`(
        options: [String],
        hasAddresses: Bool
    ) async throws {
        let scratch = try ScratchDirectory()
        let authority = try LocalAuthority(directory: scratch.path)
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(authority: authority))
        let address = "127.0.0.1:\(await apns.port)"
        let arguments = ["-connect", address, "-alpn", "h2", "-CAfile", scratch.path + "/ca.pem"] + options
        let command =
            "openssl s_client \(arguments.joined(separator: " ")) </dev/null 2>&1 | tee /dev/stderr"
            + " | openssl x509 -noout -ext subjectAltName"
        let run = try await ProgramRun("/bin/sh", ["-c", command])
        #expect(run.text.contains("DNS:localhost"), "\(run.errorOutput)")
        #expect(run.text.contains("IP Address:127.0.0.1") == hasAddresses)
        #expect(run.errorOutput.contains("Verify return code: 0"))
        await apns.stop()
    }

    @Test func `invalid files of an authority are reported, not replaced`() throws {
        let scratch = try ScratchDirectory()
        try scratch.write("no certificate", to: "ca.pem")
        try scratch.write("no key", to: "ca-key.pem")
        let error = try #require(throws: SimulatorError.self) { try LocalAuthority(directory: scratch.path) }
        #expect(error.description.contains(scratch.path))
        #expect(try scratch.read("ca.pem") == "no certificate")
    }

    @Test func `a directory that cannot be made is named`() throws {
        let error = try #require(throws: SimulatorError.self) { try LocalAuthority(directory: "/dev/null/martlet") }
        #expect(error.description.contains("/dev/null/martlet"))
    }

    @Test func `a port that is taken cannot be listened on`() async throws {
        let taken = try SilentServer()
        await #expect(throws: SimulatorError.self) {
            try await SimulatedAPNs.start(SimulatedAPNs.Configuration(port: taken.port))
        }
    }

    @Test func `an authority whose key is gone is not replaced`() throws {
        let scratch = try ScratchDirectory()
        let first = try LocalAuthority(directory: scratch.path)
        try FileManager.default.removeItem(atPath: scratch.path + "/ca-key.pem")
        #expect(throws: SimulatorError.self) { try LocalAuthority(directory: scratch.path) }
        #expect(try scratch.read("ca.pem") == first.certificatePEM)
    }

    @Test func `an authority whose certificate was not written gets one for its key`() async throws {
        let scratch = try ScratchDirectory()
        _ = try LocalAuthority(directory: scratch.path)
        let key = try scratch.read("ca-key.pem")
        try FileManager.default.removeItem(atPath: scratch.path + "/ca.pem")
        let authority = try LocalAuthority(directory: scratch.path, names: ["apns.test"])
        #expect(try scratch.read("ca-key.pem") == key)
        #expect(try scratch.read("ca.pem") == authority.certificatePEM)
        try authority.check(names: ["apns.test"])
        #expect(try LocalAuthority(directory: scratch.path).certificatePEM == authority.certificatePEM)
    }

    @Test func `a simulator that cannot start releases its ports`() async throws {
        let taken = try SilentServer()
        let port = try SilentServer.unusedPort().port
        await #expect(throws: SimulatorError.self) {
            try await SimulatedAPNs.start(SimulatedAPNs.Configuration(port: port, inboxPort: taken.port))
        }
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(port: port))
        await apns.stop()
    }
}
