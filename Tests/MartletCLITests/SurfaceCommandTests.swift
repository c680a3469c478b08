// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the commands for snapshots.
@Suite(.timeLimit(.minutes(10))) struct SurfaceCommandTests {
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
        #expect(run.text.contains("\(bad): control.label: must not be empty\n"))
        #expect(run.text.contains("\(bad): schemaVersion: is missing"))
        #expect(run.text.contains("\(good): a valid snapshot of the kind widget\n"))
    }

    @Test func `a snapshot whose push is too long is valid, with a warning`() async throws {
        let example = String(decoding: SurfaceSnapshot.example(of: .notification).json.encoded(), as: UTF8.self)
        let long = example.replacing("Two stops before you", with: String(repeating: "x", count: 5_000))
        let run = try await martlet(["surface", "validate", "-"], input: long)
        #expect(
            run.status == 0 && run.text.contains(" more than the 4096 allowed; APNs refuses the push\n"),
            "\(run.text)"
        )
        let json = try await martlet(["surface", "validate", "--json", "-"], input: long)
        #expect(try JSONReader.read(Array(json.text.utf8))["warnings"]?.elements?.count == 1, "\(json.text)")
        let short = try await martlet(["surface", "validate", "-"], input: example)
        #expect(short.status == 0 && !short.text.contains("warning"), "\(short.text)")
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

    @Test(arguments: SurfaceExample.all) func `an example is printed by its name`(_ example: SurfaceExample)
        async throws
    {
        let run = try await martlet(["surface", "example", example.name])
        #expect(try SurfaceSnapshot(parsing: Array(run.text.utf8)) == example.snapshot)
    }

    @Test func `without a name, the examples are listed, as text and JSON`() async throws {
        let text = try await martlet(["surface", "example"]).text
        let lines = try await martlet(["surface", "example", "--json"]).text.split(separator: "\n")
        let names = try lines.map { try JSONReader.read(Array($0.utf8))["name"]?.stringValue }
        #expect(names == SurfaceExample.all.map(\.name))
        for example in SurfaceExample.all { #expect(text.contains(example.name) && text.contains(example.summary)) }
        let wrong = try await martlet(["surface", "example", "activity-pausd"])
        #expect(
            wrong.status == 2 && wrong.errorOutput.contains("did you mean activity-paused?"),
            "\(wrong.errorOutput)"
        )
    }

    @Test func `categories are printed as the Info.plist of a content extension, or as JSON`() async throws {
        let categories = try NotificationCategories([.init(id: "orders.ready", description: "Ready.")])
        let input = String(decoding: categories.json.encoded(), as: UTF8.self)
        let run = try await martlet(["surface", "categories", "-"], input: input)
        #expect(run.status == 0 && run.text == categories.contentExtensionPropertyList, "\(run.errorOutput)")
        let json = try await martlet(["surface", "categories", "--json", "-"], input: input)
        #expect(try JSONReader.read(json.output) == categories.json)
        let wrong = try await martlet(["surface", "categories", "-"], input: #"{"schemaVersion":"1"}"#)
        #expect(wrong.status == 2 && wrong.errorOutput.contains("categories: is missing"), "\(wrong.errorOutput)")
    }

    @Test func `the keys of a notification are checked with a string catalog`() async throws {
        let scratch = try ScratchDirectory()
        let notification = SurfaceExample.notificationLocalized.snapshot.json.encoded()
        let file = try scratch.write(notification, to: "order.json")
        func catalog(_ keys: [String]) throws -> String {
            let strings = keys.map {
                #""\#($0)":{"localizations":{"en":{"stringUnit":{"state":"translated","value":"x"}}}}"#
            }
            let text = #"{"sourceLanguage":"en","version":"1.0","strings":{\#(strings.joined(separator: ","))}}"#
            return try scratch.write(text, to: "Localizable.xcstrings")
        }
        let missing = try catalog(["ORDER_READY"])
        let incomplete = try await martlet(["surface", "validate", "--strings", missing, file])
        #expect(incomplete.status == 1 && incomplete.text.contains("PICK_UP_UNTIL"), "\(incomplete.text)")
        let complete = try catalog(["ORDER_READY", "PICK_UP_UNTIL"])
        let run = try await martlet(["surface", "validate", "--strings", complete, file])
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
    }

    @Test func `--received skips unknown kinds and members with a warning`() async throws {
        let widget = try await martlet(["surface", "example", "widget-minimal"]).text
        let cases = [
            (widget.replacing("\"widget\"", with: "\"watchFace\""), "skipped: the kind watchFace"),
            (
                widget.replacing("\"state\"", with: "\"glow\":1,\"state\""),
                "warning: the snapshot has unknown members: glow"
            ),
            (widget.replacing("\"schemaVersion\":\"5\"", with: "\"schemaVersion\":\"6\""), "is of version 6"),
        ]
        for (input, message) in cases {
            #expect(try await martlet(["surface", "validate", "-"], input: input).status == 1)
            let run = try await martlet(["surface", "validate", "--received", "-"], input: input)
            #expect(run.status == 0 && run.text.contains(message), "\(run.text)\(run.errorOutput)")
            let json = try await martlet(["surface", "validate", "--received", "--json", "-"], input: input)
            let warnings = try JSONReader.read(json.output)["warnings"]?.elements
            #expect(json.status == 0 && warnings?.count == 1, "\(json.text)")
        }
    }

    // MARK: Smoke

    @Test func `every surface is sent to a simulator of its own, and shown`() async throws {
        let run = try await martlet(["surface", "smoke"])
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        for example in SurfaceExample.all { #expect(run.text.contains(example.name)) }
        #expect(run.text.contains("The phone shows each of the "))
        for part in ["Live Activity starts", "stays for up to 4 hours", "Shown on 1 of 1 activity", "wakes the app"] {
            #expect(run.text.contains(part), "\(part)")
        }
    }

    @Test func `a push that the phone does not show fails the command`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let port = try #require(await apns.inboxPort)
        let url = "127.0.0.1:\(port)"
        let shown = try await martlet(["surface", "smoke", "--json", "--url", url])
        #expect(shown.status == 0, "\(shown.text)\(shown.errorOutput)")
        func rows(_ run: ProgramRun) throws -> [JSONValue] {
            try run.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        }
        #expect(try rows(shown).allSatisfy { $0["shown"] == true && $0["status"] == 200 })
        let count = try rows(shown).count
        #expect(await apns.pushCount == count)

        let device = "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac"
        await apns.setOnline(false, try DeviceToken(hex: device))
        let offline = try await martlet(["surface", "smoke", "--json", "--url", url])
        #expect(offline.status == 1)
        let stored = try rows(offline).filter { $0["shown"] == false }
        #expect(stored.allSatisfy { $0["verdict"] == "stored" } && stored.count >= 28, "\(stored)")

        await apns.unregister(try DeviceToken(hex: device))
        let refused = try await martlet(["surface", "smoke", "--url", url])
        #expect(refused.status == 1 && refused.text.contains("Unregistered"), "\(refused.text)")
        #expect(refused.text.contains("pushes are not shown."))
        await apns.stop()
        let stopped = try await martlet(["surface", "smoke", "--url", url])
        #expect(stopped.status == 3 && stopped.errorOutput.contains("martlet simulate"), "\(stopped.errorOutput)")
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
