// SPDX-License-Identifier: Apache-2.0

/// An error in a snapshot.
public struct SurfaceIssue: Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error; the raw values are part of the contract.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text is not JSON, or is too large or nested too deep.
        case invalidJSON = "invalid_json"
        /// A value has another type, or is missing.
        case invalidType = "invalid_type"
        /// A value is not one of the allowed values.
        case invalidValue = "invalid_value"
        /// A text is too short, a list too small, or a number too low.
        case tooSmall = "too_small"
        /// A text is too long, a list too large, or a number too high.
        case tooBig = "too_big"
        /// A text does not have the required form.
        case invalidFormat = "invalid_format"
        /// An object has unknown members.
        case unrecognizedKeys = "unrecognized_keys"
        /// The kind is missing or unknown, so the rest cannot be validated.
        case invalidUnion = "invalid_union"
    }

    /// The kind of the error.
    public let code: Code
    /// The path of names to the place, outermost first; empty for the whole snapshot.
    public let path: [String]
    /// The error and the rule.
    public let message: String
    /// The first of the unknown members, for ``Code/unrecognizedKeys``; nil if its name may be a secret.
    package var unknownMember: String?

    /// The place and the message.
    public var description: String { "\(subject): \(message)" }

    /// The place in words.
    var subject: String { path.isEmpty ? "the snapshot" : path.joined(separator: ".") }
}

/// All errors in a snapshot.
public struct SurfaceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors, in the order of the contract's fields; never empty.
    public let issues: [SurfaceIssue]

    init(_ issues: [SurfaceIssue]) {
        self.issues = issues
    }

    init(_ code: SurfaceIssue.Code, at path: [String] = [], _ message: String) {
        self.init([SurfaceIssue(code: code, path: path, message: message)])
    }

    /// All errors, separated by semicolons.
    public var description: String { issues.map(\.description).joined(separator: "; ") }
}
