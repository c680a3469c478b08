// SPDX-License-Identifier: Apache-2.0

/// The exit statuses of the program, with the same meaning for every command.
package enum ExitStatus: Int32, Sendable, CaseIterable, Comparable {
    /// The command succeeded.
    case success = 0
    /// A push was not accepted, a check failed, or a server could not start.
    case failure = 1
    /// The usage is wrong, or an input cannot be used.
    case usage = 2
    /// The server cannot be reached, or is not trusted.
    case unreachable = 3
    /// SIGINT (Control-C) interrupted the command before its end.
    case interrupted = 130
    /// SIGTERM interrupted the command before its end.
    case terminated = 143

    /// The meaning, shown in the help.
    package var summary: String {
        switch self {
        case .success: "Success."
        case .failure: "A push was not accepted, a check failed, or a server could not start."
        case .usage: "The usage is wrong, or an input cannot be used."
        case .unreachable: "The server cannot be reached, or is not trusted."
        case .interrupted: "Control-C (SIGINT) interrupted a run before its end."
        case .terminated: "SIGTERM interrupted a run before its end."
        }
    }

    /// Returns whether the left status is lower, and is therefore replaced by the right one if several devices fail.
    package static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// The failure of a command that has already printed its result.
package struct CommandFailure: Error {
    let status: ExitStatus

    /// Creates a failure with an exit status.
    package init(_ status: ExitStatus = .failure) {
        self.status = status
    }
}

/// The report of an error: the exit status, the message, and the JSON for `--json`.
package struct ErrorReport: Sendable {
    /// The exit status.
    package let status: ExitStatus
    /// The message: one sentence without the final stop.
    package let message: String
    /// The JSON object for `--json`, in one line.
    package let json: String

    /// Creates a report.
    package init(status: ExitStatus, message: String, json: String) {
        self.status = status
        self.message = message
        self.json = json
    }
}
