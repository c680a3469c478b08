// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore

/// The data of the contract that this module succeeds, beside the project; absent where only the project is.
enum Fixtures {
    static let folder = "../shared/surfaces"
    static let arePresent = FileManager.default.fileExists(atPath: folder + "/index.json")
    static let absence = "the contract's data is not at \(folder)"

    /// The names of all files of a folder that hold an example.
    static func names(in subfolder: String = "") -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/" + subfolder)) ?? []
        return names.filter { $0.hasSuffix(".json") && $0 != "index.json" }.sorted().map { subfolder + $0 }
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: folder + "/" + name)))
    }

    static func json(_ name: String) throws -> JSONValue {
        try JSONReader.read(try bytes(name))
    }

    /// The project's own snapshots of each kind.
    static let examples: [SurfaceSnapshot] =
        SurfaceKind.allCases.map(SurfaceSnapshot.example(of:)) + SurfaceExample.all.map(\.snapshot)
}

extension JSONValue {
    /// The value with the members of every object in the order of their names, and numbers in one form.
    var canonical: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.canonical) }.sorted { $0.name < $1.name })
        case .array(let elements): .array(elements.map(\.canonical))
        case .number(let number): JSONNumber(number.doubleValue).map(JSONValue.number) ?? self
        case .null, .bool, .string: self
        }
    }

    var text: String { String(decoding: encoded(), as: UTF8.self) }
}
