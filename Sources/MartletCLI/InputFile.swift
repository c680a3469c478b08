// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletTransport
import Synchronization

/// A file that an option or an argument names; `-` is standard input, and PEM text or a JSON object is the content
/// itself.
struct InputFile: ArgumentValue, CustomStringConvertible {
    /// The path, or `-`.
    let path: String
    /// The option or the environment variable that names the file; nil for an argument and for a default.
    private let source: String?
    /// Whether the path never appears in messages.
    private var isPathHidden = false
    private let content = Content()
    var description: String { path }
    /// Whether the file is standard input.
    var isStandardInput: Bool { path == "-" }

    /// The bytes of a file, which its copies share, because a pipe can be read only once.
    private final class Content: Sendable {
        /// The bytes; nil until they have been read.
        let bytes = Mutex<[UInt8]?>(nil)
    }

    /// Creates a file from its path, without checking that it exists.
    init(argument: String) {
        self.init(argument: argument, source: nil)
    }

    init(argument: String, source: String?) {
        path = argument
        self.source = source
    }

    static var valueName: String { "file" }
    static var isFile: Bool { true }
    static var readsStandardInput: Bool { true }

    /// The path for messages, unless it may be a secret.
    var shownPath: String { isJSONText ? "the JSON text" : "\(ShownValue(path))" }

    /// The name of the file in errors: the path, preceded by the option or variable.
    var label: String {
        if isPathHidden { return source ?? "the file" }
        if isJSONText { return source ?? shownPath }
        let name = path == "-" ? "standard input" : shownPath
        return source.map { "\($0) \(name)" } ?? name
    }

    /// Whether the value is the text of a JSON object in place of a path.
    var isJSONText: Bool { path.first(where: { !$0.isWhitespace }) == "{" }

    /// Returns a file whose path never appears in messages.
    ///
    /// A password that is given in place of the file with the password looks like any file name.
    func hidingPath() -> InputFile {
        var file = self
        file.isPathHidden = true
        return file
    }

    /// Returns all bytes of the file, which is read once.
    ///
    /// - Throws: ``UsageError`` with the file and the system's error, or if the path or standard input is empty.
    func bytes() throws(UsageError) -> [UInt8] {
        try content.bytes.withLock { (known) throws(UsageError) in
            if let known { return known }
            let bytes = try read()
            known = bytes
            return bytes
        }
    }

    private func read() throws(UsageError) -> [UInt8] {
        guard !path.isEmpty else {
            throw UsageError(
                "\(source ?? "the path of a file") is empty, as when a secret of a CI system is not set: the path of a "
                    + "file is needed"
            )
        }
        guard path != "-" else {
            let bytes: [UInt8]
            do throws(UsageError) {
                bytes = try StandardInput.bytes()
            } catch {
                throw UsageError((source.map { $0 + " " } ?? "") + "\(error)")
            }
            guard !bytes.isEmpty else { throw UsageError("\(label) is empty") }
            return bytes
        }
        if let pem = PEMText.text(in: path) { return Array(pem.utf8) }
        if isJSONText, !isPathHidden { return Array(path.utf8) }
        do throws(FileError) {
            return try FileContents.read(path)
        } catch {
            throw usageError(error)
        }
    }

    /// Returns the error for a file that cannot be read, preceded by the option or variable.
    func usageError(_ error: FileError) -> UsageError {
        guard !isPathHidden else {
            return UsageError(
                "\(label) cannot be read: \(error.reason); the path of a file is needed (the value is not shown, as it "
                    + "may be a password)"
            )
        }
        return UsageError((source.map { $0 + " " } ?? "") + "\(error)")
    }

    /// Reads the file as text.
    ///
    /// - Throws: ``UsageError`` with the file and the system's error, or if the bytes are not UTF-8.
    func text() throws(UsageError) -> String {
        try text(of: bytes())
    }

    /// Converts bytes of the file to text.
    ///
    /// - Throws: ``UsageError`` if the bytes are not UTF-8.
    func text(of bytes: [UInt8]) throws(UsageError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(label) cannot be read: it is not valid UTF-8")
        }
        return text
    }

    /// Reads the first line of the file; empty for an empty file.
    func firstLine() throws(UsageError) -> String {
        try text().split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    /// Reads the certificates in the file as PEM text.
    ///
    /// - Throws: ``UsageError`` if the file cannot be read, or contains no certificate in PEM.
    func certificates() throws(UsageError) -> String {
        let text = try text()
        do throws(TransportError) {
            _ = try TLSContext.http1Client(authorities: text)
        } catch {
            throw UsageError("\(label): \(error)")
        }
        return text
    }

    /// Reads the file, which must contain a JSON object.
    ///
    /// - Throws: ``UsageError`` if the file cannot be read or is not a JSON object.
    func jsonObject() throws(UsageError) -> [UInt8] {
        let bytes = try bytes()
        // APNs accepts repeated names, which only the stricter reader rejects.
        guard !JSONReader.isObject(bytes) else { return bytes }
        guard try JSONValue(bytes, label).members != nil else { throw UsageError("\(label) must be a JSON object") }
        return bytes
    }
}

extension JSONValue {
    /// Parses the text of a file, a line or an option.
    ///
    /// - Parameters:
    ///   - text: The JSON text in UTF-8.
    ///   - subject: The name of the text for the error; nil, the default, if the caller adds it.
    /// - Throws: ``UsageError`` if the text is not valid JSON.
    init(_ text: [UInt8], _ subject: String? = nil) throws(UsageError) {
        do throws(JSONError) {
            self = try JSONReader.read(text)
        } catch {
            throw UsageError((subject.map { $0 + " " } ?? "") + "\(error.rule): \(error)")
        }
    }
}
