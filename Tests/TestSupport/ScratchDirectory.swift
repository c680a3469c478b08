// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A temporary directory, which `deinit` removes.
package final class ScratchDirectory: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }

    /// Writes a text file and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(text.utf8, to: name)
    }

    /// Reads a text file.
    package func read(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }
}
