// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands
import MartletCore

extension Command {
    /// Validates snapshots.
    static let surfaceValidate = Command(
        "surface validate",
        "Validate snapshots of surfaces, and print every error; exit 2 when a file cannot be read or is not JSON",
        examples: [
            "surface validate order.json", "surface example widget | martlet surface validate -",
            "surface validate --received pushed.json",
        ],
        Argument<[InputFile]>("file", "Snapshot, JSON; - for standard input"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        Option<InputFile?>("--strings", "The app's string catalog (.xcstrings), to check the keys of notifications"),
        Flag("--received", "Read as an app does: skip unknown kinds and members with a warning"),
        OutputFormat.declared
    ) { files, categories, strings, isReceived, output in
        let categories = try NotificationCategories(file: categories)
        let strings = try strings.map { (file) throws(UsageError) in try SurfaceStrings(file: file) }
        let client = try PushClient(.production, authentication: .token(.ephemeral()))
        var status = ExitStatus.success
        for file in files {
            let bytes: [UInt8]
            do throws(UsageError) {
                bytes = try file.snapshot()
            } catch {
                status = .usage
                report(error, file, output)
                continue
            }
            let verdict = Result { () throws(SurfaceError) -> SurfaceSnapshot.Received in
                let received: SurfaceSnapshot.Received =
                    try isReceived
                    ? SurfaceSnapshot.parse(received: bytes, categories: categories)
                    : .snapshot(SurfaceSnapshot(parsing: bytes, categories: categories), warnings: [])
                guard let strings, case .snapshot(.notification(let notification), let warnings) = received else {
                    return received
                }
                return .snapshot(try strings.checked(notification), warnings: warnings)
            }
            .map { $0.withSizeWarning(client) }
            if case .failure(let error) = verdict { status = max(status, error.isUnreadable ? .usage : .failure) }
            output.write(json: json(of: verdict, file), text: text(of: verdict, file))
        }
        await client.close()
        if status != .success { throw CommandFailure(status) }
    }

    /// Prints the projections of snapshots.
    static let surfaceProject = Command(
        "surface project",
        "Print the projections of a snapshot: content states, entries and payloads",
        examples: ["surface project order.json"],
        Argument<[InputFile]>("file", "Snapshot, JSON; - for standard input"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        OutputFormat.declared
    ) { files, categories, output in
        let categories = try NotificationCategories(file: categories)
        for file in files {
            let members = try SurfaceSnapshot(file: file, categories: categories).projections
            let texts = members.map { member in
                "\(file.shownPath): \(member.name), \(member.value.encoded().count) bytes\n\(member.value.line)"
            }
            output.write(json: .object(members), text: texts.joined())
        }
    }

    /// Migrates snapshots of older versions.
    static let surfaceMigrate = Command(
        "surface migrate",
        "Convert snapshots of any version to the current version, one per line",
        examples: ["surface migrate old.json > new.json"],
        Argument<[InputFile]>("file", "Snapshot of version 1 or later, JSON; - for standard input"),
        Option<String?>(
            "--updated-at",
            "Date for a snapshot of version 1 that has none, such as 2026-05-12T18:31:00.000Z"
        ),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        OutputFormat.declared
    ) { files, updatedAt, categories, output in
        let categories = try NotificationCategories(file: categories)
        for file in files {
            let bytes = try file.snapshot()
            do throws(SurfaceError) {
                let migrated = try SurfaceSnapshot.parse(
                    anyVersion: bytes,
                    updatedAt: updatedAt.map(SurfaceDate.init(rawValue:)),
                    categories: categories
                )
                let warning = migrated.warning.map { [JSONValue.Member("warning", .string($0))] } ?? []
                let snapshot = migrated.snapshot.json
                output.write(json: .object([.init("snapshot", snapshot)] + warning), text: snapshot.line)
                guard !output.isJSON, let warning = migrated.warning else { continue }
                Terminal.errors.write("\(file.shownPath): \(warning)\n")
            } catch {
                throw UsageError("\(file.label): \(error)")
            }
        }
    }

    /// Prints the JSON Schema of snapshots.
    static let surfaceSchema = Command(
        "surface schema",
        "Print the JSON Schema of snapshots",
        examples: ["surface schema > surface.schema.json"],
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        OutputFormat.declared
    ) { categories, _ in
        Terminal.output.write(SurfaceSchema.document(categories: try NotificationCategories(file: categories)).line)
    }

    /// Prints the Info.plist of a content extension.
    static let surfaceCategories = Command(
        "surface categories",
        "Print the Info.plist of a content extension for an app's notification categories",
        examples: ["surface categories categories.json > NotificationContent/Info.plist"],
        Argument<InputFile>("file", "The app's notification categories, JSON; - for standard input"),
        OutputFormat.declared
    ) { file, output in
        let categories = try NotificationCategories(file: file)
        output.write(json: categories.json, text: categories.contentExtensionPropertyList)
    }

    /// Reports a file that cannot be read; the remaining files are still validated.
    private static func report(_ error: UsageError, _ file: InputFile, _ output: OutputFormat) {
        guard output.isJSON else { return Terminal.errors.write("martlet surface validate: \(error)\n") }
        let members: JSONValue = [
            "file": .string(file.shownPath), "valid": false, "error": "usage", "message": .string("\(error)"),
        ]
        Terminal.output.write(members.line)
    }

    private static func text(of verdict: Result<SurfaceSnapshot.Received, SurfaceError>, _ file: InputFile) -> String {
        switch verdict {
        case .success(.snapshot(let snapshot, let warnings)):
            "\(file.shownPath): a valid snapshot of the kind \(snapshot.kind.rawValue)\n"
                + warnings.map { "\(file.shownPath): warning: \($0)\n" }.joined()
        case .success(.unknown(let unknown)): "\(file.shownPath): skipped: \(unknown.warning)\n"
        case .failure(let error): error.issues.map { "\(file.shownPath): \($0)\n" }.joined()
        }
    }

    private static func json(of verdict: Result<SurfaceSnapshot.Received, SurfaceError>, _ file: InputFile) -> JSONValue
    {
        var members: [JSONValue.Member] = [.init("file", .string(file.shownPath))]
        switch verdict {
        case .success(.snapshot(let snapshot, let warnings)):
            members += [.init("valid", true), .init("kind", .string(snapshot.kind.rawValue))]
            if !warnings.isEmpty { members.append(.init("warnings", .strings(warnings))) }
        case .success(.unknown(let unknown)):
            members += [
                .init("valid", true), .init("kind", .string(unknown.kind)), .init("skipped", true),
                .init("warnings", .strings([unknown.warning])),
            ]
        case .failure(let error):
            let issues = error.issues.map { issue -> JSONValue in
                [
                    "path": .array(issue.path.map(JSONValue.string)), "code": .string(issue.code.rawValue),
                    "message": .string(issue.message),
                ]
            }
            members += [.init("valid", false), .init("issues", .array(issues))]
            if error.isUnreadable { members += [.init("error", "usage"), .init("message", .string("\(error)"))] }
        }
        return .object(members)
    }
}

extension SurfaceSnapshot.Received {
    /// Returns the snapshot, with a warning if its push is longer than APNs allows.
    ///
    /// - Parameter client: A client that renders the push; it is not sent.
    /// - Returns: The snapshot.
    fileprivate func withSizeWarning(_ client: PushClient) -> Self {
        guard case .snapshot(let snapshot, let warnings) = self, let anyDevice = try? DeviceToken(hex: "00") else {
            return self
        }
        let destination: SurfaceDestination =
            snapshot.kind == .liveActivity ? .activityStart(anyDevice) : .device(anyDevice)
        let push = try? client.describe(snapshot, to: destination, topic: "com.example.app")
        let finding = push?.findings.first { $0.reason == .payloadTooLarge }
        return finding.map { .snapshot(snapshot, warnings: warnings + [$0.message]) } ?? self
    }
}

extension SurfaceError {
    /// Whether the snapshot is not valid JSON.
    fileprivate var isUnreadable: Bool { issues.contains { $0.code == .invalidJSON } }
}

extension SurfaceStrings {
    /// Reads the string catalog in a file.
    fileprivate init(file: InputFile) throws(UsageError) {
        let bytes = try file.bytes()
        do throws(SurfaceError) {
            try self.init(parsing: bytes)
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
    }
}
