// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MartletSimulator

/// The articles about verdicts and queries list everything that exists.
@Suite struct VerdictArticleTests {
    private func article(_ name: String) throws -> String {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let file = sources.appending(path: "Sources/MartletSimulator/Documentation.docc/\(name).md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `the article about verdicts lists every kind`() throws {
        let text = try article("PushVerdicts")
        for kind in PushVerdict.Kind.allCases { #expect(text.contains("| `\(kind.rawValue)` | "), "\(kind)") }
    }

    @Test func `the article about queries lists every name and value`() throws {
        let text = try article("FindPushes")
        for field in PushQuery.Field.allCases {
            #expect(text.contains("| `\(field.rawValue)`") || text.contains(", `\(field.rawValue)`"), "\(field)")
            guard field != .verdict else { continue }
            for value in field.values ?? [] { #expect(text.contains("`\(value)`"), "\(value)") }
        }
    }
}
