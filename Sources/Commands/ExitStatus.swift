/// The exit statuses of the program: one meaning for each, whatever the command.
package enum ExitStatus: Int32, Sendable, CaseIterable, Comparable {
    /// The command did what it was asked to do.
    case success = 0
    /// A push was not accepted, a check failed, or a server could not start.
    case failure = 1
    /// The usage is wrong, or an input cannot be used.
    case usage = 2
    /// The server cannot be reached, or is not trusted.
    case unreachable = 3

    /// The meaning, for help.
    package var summary: String {
        switch self {
        case .success: "Success."
        case .failure: "A push was not accepted, a check failed, or a server could not start."
        case .usage: "The usage is wrong, or an input cannot be used."
        case .unreachable: "The server cannot be reached, or is not trusted."
        }
    }

    /// Whether the left status is overridden by the right one when several devices fail differently.
    package static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// The failure of a command that has printed its result already.
package struct CommandFailure: Error {
    let status: ExitStatus

    /// A failure with an exit status.
    package init(_ status: ExitStatus = .failure) {
        self.status = status
    }
}

/// The report of an error: the exit status, and the error for people and for programs.
package struct ErrorReport: Sendable {
    /// The exit status.
    package let status: ExitStatus
    /// The message for people: one sentence without the final stop.
    package let message: String
    /// The JSON object for programs, in one line.
    package let json: String

    /// A report from its parts.
    package init(status: ExitStatus, message: String, json: String) {
        self.status = status
        self.message = message
        self.json = json
    }
}
