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
    init(file: InputFile, categories: NotificationCategories = .standard) throws(UsageError) {
        let bytes = try file.snapshot()
        do throws(SurfaceError) {
            try self.init(parsing: bytes, categories: categories)
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
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
