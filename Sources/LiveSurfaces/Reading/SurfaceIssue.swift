/// One thing that is wrong with a snapshot.
public struct SurfaceIssue: Sendable, Hashable, CustomStringConvertible {
    /// What sort of mistake it is; the raw values are those of the contract.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// It is no JSON, or too large or deep to be looked at.
        case invalidJSON = "invalid_json"
        /// A value is of another type, or missing.
        case invalidType = "invalid_type"
        /// A value is none of those that are allowed.
        case invalidValue = "invalid_value"
        /// A text is too short, a list too small, or a number too low.
        case tooSmall = "too_small"
        /// A text is too long, a list too large, or a number too high.
        case tooBig = "too_big"
        /// A text has not the form it should have.
        case invalidFormat = "invalid_format"
        /// An object has members that the contract does not know.
        case unrecognizedKeys = "unrecognized_keys"
        /// The kind is missing or unknown, so nothing else can be judged.
        case invalidUnion = "invalid_union"
    }

    /// What sort of mistake it is.
    public let code: Code
    /// The names that lead to the place, from the outside in; empty for the whole snapshot.
    public let path: [String]
    /// What is wrong and what would be right.
    public let message: String

    /// The place, the message and the code.
    public var description: String {
        "\(path.isEmpty ? "the snapshot" : path.joined(separator: ".")): \(message) (\(code.rawValue))"
    }
}

/// Everything that is wrong with a snapshot.
public struct SurfaceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in the order of the contract's fields; never empty.
    public let issues: [SurfaceIssue]

    init(_ issues: [SurfaceIssue]) {
        self.issues = issues
    }

    init(_ code: SurfaceIssue.Code, at path: [String] = [], _ message: String) {
        self.init([SurfaceIssue(code: code, path: path, message: message)])
    }

    /// One issue after the other.
    public var description: String { issues.map(\.description).joined(separator: "; ") }
}
