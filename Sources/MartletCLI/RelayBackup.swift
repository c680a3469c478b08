// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// The time limit for copying the file of a relay: enough for some hundred gigabytes.
    private static let backupTime = Duration.seconds(3_600)

    /// Copies the file of a relay.
    static let relayBackup = Command(
        "relay backup",
        "Copy the file of a running relay on this machine",
        examples: ["relay backup relay-backup.sqlite --key-file operator.key"],
        Argument<FilePath>("file", "Path of the copy; the file must not exist"),
        RelayClient.declared,
        OutputFormat.declared
    ) { file, relay, output in
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw UsageError("\(ShownValue(file.path)) exists: choose another file")
        }
        let directory = URL(filePath: file.path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: directory) else {
            let isThere = FileManager.default.fileExists(atPath: directory)
            throw UsageError("the directory \(ShownValue(directory)) \(isThere ? "is not writable" : "does not exist")")
        }
        let answer = try await relay.send("POST", "/v1/backup", within: backupTime)
        let copy = answer["file"]?.stringValue ?? ""
        do {
            try FileManager.default.moveItem(atPath: copy, toPath: file.path)
        } catch {
            throw CommandError(
                "the relay has written \(copy), which cannot be moved to \(ShownValue(file.path)): move it on the "
                    + "relay's machine (\(reason(of: error)))"
            )
        }
        output.write(json: ["file": .string(file.path)], text: "The backup is in \(file.path).\n")
    }

    /// Returns the reason why a file cannot be moved.
    private static func reason(of error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "this machine does not have the file"
        case .fileWriteNoPermission, .fileReadNoPermission: "this user has no permission"
        case .fileWriteOutOfSpace: "the disk is full"
        default: "\(error)"
        }
    }
}
