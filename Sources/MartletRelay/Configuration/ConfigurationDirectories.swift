// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
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

    /// Returns PEM text that a setting contains, or the path of the file that the setting names.
    ///
    /// - Parameters:
    ///   - value: The value of the setting.
    ///   - isSecret: Whether the file contains a secret.
    ///   - setting: The name of the setting.
    /// - Returns: The PEM text or the path.
    /// - Throws: ``RelayError`` if the value may be a secret and is not the path of a file.
    func pathOrPEM(_ value: String, isSecret: Bool, _ setting: String) throws(RelayError) -> String {
        if let pem = PEMText.text(in: value) { return pem }
        let path = isSecret ? secret(value) : file(value)
        // The complete path would show a part of the value that is recognized as a secret only by itself.
        let shown = ShownValue(value)
        guard shown.isWhole || FileManager.default.fileExists(atPath: path) else {
            throw RelayError("\(setting) must be the path of a file (found \(shown))")
        }
        return path
    }

    /// Returns the text of a file, or PEM text.
    ///
    /// - Parameters:
    ///   - value: The path or the PEM text, which a setting contains.
    ///   - isSecret: Whether the file contains a secret.
    ///   - setting: The name of the setting.
    /// - Returns: The text.
    /// - Throws: ``RelayError`` if the file cannot be read.
    func text(_ value: String, isSecret: Bool = false, _ setting: String) throws(RelayError) -> String {
        let source = try pathOrPEM(value, isSecret: isSecret, setting)
        do throws(FileError) {
            return try FileContents.textOrPEM(source)
        } catch {
            throw RelayError("\(setting): the file \(error)")
        }
    }
}
