internal import Outbox
internal import Wire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where the files are that settings name.
struct FilePlaces {
    /// Where the configuration is, with its `/`.
    let directory: String
    /// Where systemd has put the unit's credentials; nil for nowhere.
    let credentials: String?

    /// A file that a setting names.
    func file(_ name: String) -> String { name.hasPrefix("/") ? name : directory + name }

    /// The outbox that a setting names.
    func outbox(_ name: String) -> OutboxPlace {
        switch OutboxPlace(name) {
        case .file(let path): .file(file(path))
        case .database(let address): .database(address)
        }
    }

    /// A file with a secret: the one that systemd hands out, if there is one.
    func secret(_ name: String) -> String {
        guard !name.hasPrefix("/"), let credentials else { return file(name) }
        let handedOut = "\(credentials)/\(name)"
        return FileManager.default.fileExists(atPath: handedOut) ? handedOut : file(name)
    }

    /// The text of a file that a setting names.
    func text(of name: String, _ setting: String) throws(RelayError) -> String {
        try FilePlaces.read(file(name), setting)
    }

    /// The text of a file with a secret that a setting names.
    func secretText(of name: String, _ setting: String) throws(RelayError) -> String {
        try FilePlaces.read(secret(name), setting)
    }

    private static func read(_ path: String, _ setting: String) throws(RelayError) -> String {
        do throws(FileError) {
            return try FileContents.text(path)
        } catch {
            throw RelayError("\(setting): the file \(error)")
        }
    }
}
