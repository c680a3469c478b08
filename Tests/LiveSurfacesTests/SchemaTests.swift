// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import TestSupport
import Testing

/// The JSON Schema against a validator that others wrote.
@Suite(.timeLimit(.minutes(10))) struct SchemaTests {
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Python.interpreter),
            "run `make test`, which installs jsonschema"
        )
    )
    func `the schema accepts the same documents as the parser`() async throws {
        let scratch = try ScratchDirectory()
        let schema = try scratch.write(SurfaceSchema.document().encoded(), to: "schema.json")
        var documents = Fixtures.examples.map(\.json)
        documents += documents.map { $0.replacing("zz", with: 1) }
        documents += documents.prefix(6).map { $0.replacing("kind", with: "unknown") }
        documents += documents.prefix(6).map { $0.replacing("updatedAt", with: "2026-02-29T00:00Z") }
        documents += documents.prefix(6).map { $0.replacing("schemaVersion", with: 5) }
        if Fixtures.arePresent {
            documents += try (Fixtures.names() + Fixtures.names(in: "negative/")).map(Fixtures.json)
        }
        let files = try documents.enumerated().map { try scratch.write($1.encoded(), to: "\($0).json") }
        let run = try await ProgramRun(Python.interpreter, ["Tests/Peers/check_schema.py", schema] + files)
        let verdicts = run.text.split(separator: "\n")
        try #require(verdicts.count == documents.count, "\(run.errorOutput)")
        for (document, verdict) in zip(documents, verdicts) {
            let isValid = (try? SurfaceSnapshot(document)) != nil
            #expect(verdict == (isValid ? "valid" : "invalid"), "\(document.text)")
        }
        #expect(verdicts.contains("valid") && verdicts.contains("invalid"))
    }
}

extension JSONValue {
    /// The object with one member changed, or added at the end.
    fileprivate func replacing(_ name: String, with value: JSONValue) -> JSONValue {
        let members = (members ?? []).filter { $0.name != name }
        return .object(members + [Member(name, value)])
    }
}
