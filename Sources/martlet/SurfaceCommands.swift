import APNs
import Commands
import LiveSurfaces

extension Command {
    /// Checks snapshots.
    static let surfaceValidate = Command(
        "surface validate",
        "Check snapshots of surfaces, and say everything that is wrong with them",
        examples: ["surface validate order.json", "surface example widget | martlet surface validate -"],
        Argument<[InputFile]>("file", "A snapshot, JSON; - for standard input"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        Flag("--json", "Print one JSON object per file")
    ) { files, categories, isJSON in
        let categories = try registry(categories)
        var areAllValid = true
        for file in files {
            let bytes = try file.bytes()
            let verdict = Result { () throws(SurfaceError) in
                try SurfaceSnapshot(parsing: bytes, categories: categories)
            }
            if case .failure = verdict { areAllValid = false }
            Terminal.output.write(isJSON ? json(of: verdict, file) : text(of: verdict, file))
        }
        if !areAllValid { throw CommandFailure() }
    }

    /// Shows what surfaces get of snapshots.
    static let surfaceProject = Command(
        "surface project",
        "Print what each surface gets of a snapshot: content states, entries and payloads",
        examples: ["surface project order.json"],
        Argument<[InputFile]>("file", "A snapshot, JSON; - for standard input"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        Flag("--json", "Print one JSON object per file")
    ) { files, categories, isJSON in
        let categories = try registry(categories)
        for file in files {
            let snapshot = try named(file) { (bytes) throws(SurfaceError) in
                try SurfaceSnapshot(parsing: bytes, categories: categories)
            }
            let members = snapshot.projections
            guard !isJSON else {
                Terminal.output.write(line(.object(members)))
                continue
            }
            for member in members {
                let text = member.value.encoded()
                Terminal.output.write("\(file.path): \(member.name), \(text.count) bytes\n\(line(member.value))")
            }
        }
    }

    /// Brings snapshots of older versions up to date.
    static let surfaceMigrate = Command(
        "surface migrate",
        "Print snapshots of any version as snapshots of today's, one per line",
        examples: ["surface migrate old.json > new.json"],
        Argument<[InputFile]>("file", "A snapshot of version 1 or newer, JSON; - for standard input"),
        Option<String?>("--updated-at", "When a snapshot of version 1 was written that does not say so"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON"),
        Flag("--json", "Print one JSON object per file, with the warning in it")
    ) { files, updatedAt, categories, isJSON in
        let categories = try registry(categories)
        for file in files {
            let migrated = try named(file) { (bytes) throws(SurfaceError) in
                try SurfaceSnapshot.parse(
                    anyVersion: bytes,
                    updatedAt: updatedAt.map(SurfaceDate.init(rawValue:)),
                    categories: categories
                )
            }
            guard !isJSON else {
                let warning = migrated.warning.map { [JSONValue.Member("warning", .string($0))] } ?? []
                Terminal.output.write(line(.object([.init("snapshot", migrated.snapshot.json)] + warning)))
                continue
            }
            if let warning = migrated.warning { Terminal.errors.write("\(file.path): \(warning)\n") }
            Terminal.output.write(line(migrated.snapshot.json))
        }
    }

    /// Prints the contract for other languages.
    static let surfaceSchema = Command(
        "surface schema",
        "Print the JSON Schema of snapshots",
        examples: ["surface schema > surface.schema.json"],
        Option<InputFile?>("--categories", "The app's notification categories, JSON")
    ) { categories in
        Terminal.output.write(line(SurfaceSchema.document(categories: try registry(categories))))
    }

    /// Prints a snapshot to begin with.
    static let surfaceExample = Command(
        "surface example",
        "Print an example of a snapshot of a kind",
        examples: ["surface example liveActivity > order.json"],
        Argument<SurfaceKind>("kind", "The kind of surface")
    ) { kind in
        Terminal.output.write(line(SurfaceSnapshot.example(of: kind).json))
    }

    // MARK: Helpers

    private static func registry(_ file: InputFile?) throws -> NotificationCategories {
        guard let file else { return .standard }
        return try named(file) { (bytes) throws(SurfaceError) in try NotificationCategories(parsing: bytes) }
    }

    /// What `body` makes of a file, or what is wrong with it, with the file's name.
    private static func named<Value>(
        _ file: InputFile,
        _ body: ([UInt8]) throws(SurfaceError) -> Value
    ) throws -> Value {
        let bytes = try file.bytes()
        do throws(SurfaceError) {
            return try body(bytes)
        } catch {
            throw FileProblem(description: "\(file.path): \(error)")
        }
    }

    private static func line(_ value: JSONValue) -> String {
        String(decoding: value.encoded(), as: UTF8.self) + "\n"
    }

    private static func text(of verdict: Result<SurfaceSnapshot, SurfaceError>, _ file: InputFile) -> String {
        switch verdict {
        case .success(let snapshot): "\(file.path): a valid snapshot of the kind \(snapshot.kind.rawValue)\n"
        case .failure(let error): error.issues.map { "\(file.path): \($0)\n" }.joined()
        }
    }

    private static func json(of verdict: Result<SurfaceSnapshot, SurfaceError>, _ file: InputFile) -> String {
        var members: [JSONValue.Member] = [.init("file", .string(file.path))]
        switch verdict {
        case .success(let snapshot):
            members += [.init("valid", true), .init("kind", .string(snapshot.kind.rawValue))]
        case .failure(let error):
            let issues = error.issues.map { issue -> JSONValue in
                [
                    "path": .array(issue.path.map(JSONValue.string)), "code": .string(issue.code.rawValue),
                    "message": .string(issue.message),
                ]
            }
            members += [.init("valid", false), .init("issues", .array(issues))]
        }
        return line(.object(members))
    }
}

/// What is wrong with a file's content.
struct FileProblem: Error, CustomStringConvertible {
    let description: String
}
