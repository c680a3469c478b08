// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The directories in which the files named by settings are found.
struct ConfigurationDirectories {
    /// The directory of the configuration file, with a trailing `/`; empty for the working directory.
    let directory: String
    /// The directory of the unit's systemd credentials; nil for none.
    let credentials: String?

    /// Returns the path of a file that a setting names.
    func file(_ name: String) -> String { name.hasPrefix("/") ? name : directory + name }

    /// Returns the outbox that a setting names.
    func outbox(_ name: String) -> OutboxLocation {
        switch OutboxLocation(name) {
        case .file(let path): .file(file(path))
        case .database(let address): .database(address)
        }
    }

    /// Returns the path of a file that contains a secret: that of the systemd credential if there is one.
    func secret(_ name: String) -> String {
        guard !name.hasPrefix("/"), let credentials else { return file(name) }
        let credential = "\(credentials)/\(name)"
        return FileManager.default.fileExists(atPath: credential) ? credential : file(name)
    }

    func text(at path: String, _ setting: String) throws(RelayError) -> String {
        do throws(FileError) {
            return try FileContents.text(path)
        } catch {
            throw RelayError("\(setting): the file \(error)")
        }
    }
}
