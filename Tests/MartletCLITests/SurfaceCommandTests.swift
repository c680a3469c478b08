// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the commands for snapshots.
@Suite(.timeLimit(.minutes(1))) struct SurfaceCommandTests {
    private func martlet(_ arguments: [String], input: String = "") async throws -> ProgramRun {
        let martlet = MartletProcess.program
        return try await ProgramRun(martlet, arguments, input: Array(input.utf8))
    }

    @Test(arguments: SurfaceKind.allCases) func `an example is valid and has projections`(kind: SurfaceKind)
        async throws
    {
        let example = try await martlet(["surface", "example", kind.rawValue])
        #expect(try SurfaceSnapshot(parsing: Array(example.text.utf8)) == .example(of: kind))
        let verdict = try await martlet(["surface", "validate", "--json", "-"], input: example.text)
        #expect(verdict.status == 0)
        #expect(try JSONReader.read(Array(verdict.text.utf8))["kind"]?.stringValue == kind.rawValue)
        let projections = try await martlet(["surface", "project", "--json", "-"], input: example.text)
        #expect(try JSONReader.read(Array(projections.text.utf8)).members?.isEmpty == false)
    }

    @Test func `every issue of every file is printed, and the status is 1`() async throws {
        let scratch = try ScratchDirectory()
        let good = try scratch.write(SurfaceSnapshot.example(of: .widget).json.encoded(), to: "good.json")
        let bad = try scratch.write(#"{"kind":"control","control":{"label":""}}"#, to: "bad.json")
        let run = try await martlet(["surface", "validate", bad, good])
        #expect(run.status == 1)
        #expect(run.text.contains("\(bad): control.label: must not be empty (too_small)\n"))
        #expect(run.text.contains("\(bad): schemaVersion: is missing"))
        #expect(run.text.contains("\(good): a valid snapshot of the kind widget\n"))
    }

    @Test func `an old snapshot is converted, and the warning is on standard error`() async throws {
        let old = """
            {"schemaVersion":"3","id":"a@1","surfaceId":"a","kind":"control","state":"active","modeLabel":"m",\
            "contextLabel":"","statusLine":"","primaryText":"Bell","secondaryText":"","progress":1,"deepLink":"a://",\
            "updatedAt":"2026-05-12T18:31Z","control":{"controlKind":"button"}}
            """
        let run = try await martlet(["surface", "migrate", "-"], input: old)
        #expect(run.status == 0)
        #expect(run.errorOutput.contains("version 3"))
        guard case .control(let snapshot) = try SurfaceSnapshot(parsing: Array(run.text.utf8)) else { return }
        #expect(snapshot.surface.label == "Bell")
    }

    @Test func `--categories applies to validation and to the schema`() async throws {
        let scratch = try ScratchDirectory()
        let categories = try NotificationCategories([.init(id: "orders", description: "Orders.")])
        let file = try scratch.write(categories.json.encoded(), to: "categories.json")
        let example = try await martlet(["surface", "example", "notification"]).text
        let own = example.replacing("surface-update", with: "orders")
        #expect(try await martlet(["surface", "validate", "-"], input: own).status == 1)
        #expect(try await martlet(["surface", "validate", "--categories", file, "-"], input: own).status == 0)
        #expect(try await martlet(["surface", "schema", "--categories", file]).text.contains(#"["orders"]"#))
    }

    @Test func `a snapshot is sent to the simulator`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let scratch = try ScratchDirectory()
        let file = try scratch.write(SurfaceSnapshot.example(of: .liveActivity).json.encoded(), to: "order.json")
        let port = await apns.port
        let server = [
            "--host", "http://localhost:\(port)", "--to", "5d3a6a1c", "--topic", "com.example.app",
        ]
        for role in ["device", "start", "update", "end"] {
            let run = try await martlet(["send"] + server + ["--snapshot", file, "--as", role])
            #expect(run.status == 0, "\(run.text) \(run.errorOutput)")
        }
        #expect(await apns.pushes.map(\.headers.pushType) == ["alert", "liveactivity", "liveactivity", "liveactivity"])
        let both = try await martlet(["send"] + server + ["--snapshot", file, "--title", "x"])
        #expect(both.status == 2 && both.errorOutput.contains("--snapshot"))
        let widget = try scratch.write(SurfaceSnapshot.example(of: .widget).json.encoded(), to: "widget.json")
        let wrong = try await martlet(["send"] + server + ["--snapshot", widget, "--as", "start"])
        #expect(wrong.status == 2)
        #expect(wrong.errorOutput.contains("widget.json must be a snapshot of the kind liveActivity (found widget)"))
        await apns.stop()
    }
}
