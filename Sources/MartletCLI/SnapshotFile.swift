// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCommands
import MartletCore

extension NotificationCategories {
    /// Reads the categories in a file; without a file, returns the standard ones.
    init(file: InputFile?) throws(UsageError) {
        guard let file else {
            self = .standard
            return
        }
        let bytes = try file.bytes()
        do throws(SurfaceError) {
            try self.init(parsing: bytes)
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
    }
}

extension SurfaceSnapshot {
    /// Reads the snapshot in a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - categories: The app's notification categories.
    ///   - kind: The required kind; nil, the default, for any.
    /// - Throws: ``UsageError`` if the file cannot be read, or is not a valid snapshot of the kind.
    init(
        file: InputFile,
        categories: NotificationCategories = .standard,
        of kind: SurfaceKind? = nil
    ) throws(UsageError) {
        let bytes = try file.snapshot()
        do throws(SurfaceError) {
            try self.init(parsing: bytes, categories: categories)
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
        guard let kind, self.kind != kind else { return }
        throw UsageError("\(file.label) must be a snapshot of the kind \(kind.rawValue) (found \(self.kind.rawValue))")
    }
}

extension InputFile {
    /// Reads the bytes of a snapshot, without a top-level `$schema`.
    ///
    /// The contract rejects unknown keys, but editors need this key in a file.
    func snapshot() throws(UsageError) -> [UInt8] {
        let bytes = try bytes()
        guard let members = (try? JSONReader.read(bytes))?.members, members.contains(where: { $0.name == "$schema" })
        else { return bytes }
        return JSONValue.object(members.filter { $0.name != "$schema" }).encoded()
    }
}
