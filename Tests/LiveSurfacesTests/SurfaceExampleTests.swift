// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

/// Tests of the named examples.
@Suite struct SurfaceExampleTests {
    @Test(arguments: SurfaceExample.all) func `an example is valid and is found by its name`(_ example: SurfaceExample)
        throws
    {
        #expect(try example.snapshot.validated() == example.snapshot)
        #expect(SurfaceExample(named: example.name) == example)
        #expect(!example.summary.isEmpty && example.snapshot.surfaceID == "order-17-" + example.name)
        #expect(!example.snapshot.projections.isEmpty)
    }

    @Test func `names are unique, and other names have no example`() {
        let names = SurfaceExample.all.map(\.name)
        #expect(Set(names).count == names.count && names.count >= 28)
        #expect(SurfaceExample(named: "toaster") == nil)
        #expect(SurfaceExample(named: "activity-paused") == .activityPaused)
    }

    @Test func `every kind, and every value of the important fields, has an example`() {
        let snapshots = SurfaceExample.all.map(\.snapshot)
        #expect(Set(snapshots.map(\.kind)) == Set(SurfaceKind.allCases))
        #expect(Set(snapshots.map(\.state)) == Set(SurfaceState.allCases))
        let contents = snapshots.map { $0.json[$0.kind.rawValue] ?? .null }
        func values(_ name: String) -> Set<String> { Set(contents.compactMap { $0[name]?.stringValue }) }
        #expect(values("stage") == Set(LiveActivityStage.allCases.map(\.rawValue)))
        #expect(values("controlKind") == Set(ControlKind.allCases.map(\.rawValue)))
        #expect(values("presentation") == Set(StandByPresentation.allCases.map(\.rawValue)))
        #expect(values("tint") == Set(StandByTint.allCases.map(\.rawValue)))
        #expect(values("family").isSuperset(of: AccessoryFamily.allCases.map(\.rawValue)))
    }

    /// The members and choices of a snapshot, which make a situation.
    private func situation(of json: JSONValue) -> String {
        let kind = json["kind"]?.stringValue ?? ""
        let choices = ["stage", "family", "controlKind", "presentation", "tint", "interruptionLevel", "reloadPolicy"]
        let members = (json[kind]?.members ?? []).map { member in
            choices.contains(member.name) ? "\(member.name)=\(member.value.text)" : member.name
        }
        return "\(kind) \(json["state"]?.text ?? "") \(members.sorted())"
    }

    @Test(.enabled(if: Fixtures.arePresent, Comment(rawValue: Fixtures.absence)), arguments: Fixtures.names())
    func `the situation of a fixture has an example`(name: String) throws {
        let wanted = situation(of: try Fixtures.json(name))
        let found = SurfaceExample.all.map { situation(of: $0.snapshot.json) }
        #expect(found.contains(wanted), "\(wanted)")
    }
}
