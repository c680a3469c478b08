// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A logger for people and programs, which writes one line for each event; a line below its level costs nothing.
///
/// Callers pass shortened device tokens and never payloads, keys or provider tokens.
package struct Logger: Sendable {
    /// The severity of a line.
    package enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
        case debug
        case info
        case warning
        case error

        /// The priority in the system's journal (syslog(3)).
        var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .warning: 4
            case .error: 3
            }
        }

        /// Returns whether a level is less severe than another.
        package static func < (left: Level, right: Level) -> Bool { left.priority > right.priority }
    }

    /// The format of lines.
    package enum Format: String, Sendable, Hashable, CaseIterable {
        /// A JSON object.
        case json
        /// `name=value`, as in `level=info msg="relay started"`.
        case logfmt
        /// The time, the event and the fields, for people.
        case plain
    }

    /// The fields of a line by name; nil values are omitted.
    package typealias Fields = KeyValuePairs<String, JSONValue?>

    private let level: Level
    private let format: Format
    private let hasPriorities: Bool
    private let clock: @Sendable () -> Int64
    private let output: (@Sendable (String) -> Void)?

    /// A logger that writes nothing.
    package static let silent = Logger(level: .error, format: .json, hasPriorities: false, clock: { 0 }, output: nil)

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - level: The lowest level that is written.
    ///   - format: The format of lines.
    ///   - hasPriorities: Whether each line begins with its priority, as the system's journal reads it (sd-daemon(3)).
    ///   - clock: The clock, in milliseconds since 1970.
    ///   - output: A callback with a line and its line break.
    package init(
        level: Level,
        format: Format,
        hasPriorities: Bool,
        clock: @escaping @Sendable () -> Int64,
        output: (@Sendable (String) -> Void)?
    ) {
        self.level = level
        self.format = format
        self.hasPriorities = hasPriorities
        self.clock = clock
        self.output = output
    }

    /// Returns a copy with another output.
    package func through(_ output: @escaping @Sendable (String) -> Void) -> Logger {
        Logger(level: level, format: format, hasPriorities: hasPriorities, clock: clock, output: output)
    }

    /// Returns a copy with another level.
    package func at(_ level: Level) -> Logger {
        Logger(level: level, format: format, hasPriorities: hasPriorities, clock: clock, output: output)
    }

    /// Writes a formatted line.
    func write(_ line: String) { output?(line) }

    /// Logs details for debugging.
    package func debug(_ event: LogEvent, _ fields: @autoclosure () -> Fields = [:]) {
        log(.debug, event, fields)
    }

    /// Logs a normal event; `omitted` is the number of similar lines that a throttle has left out since the last one.
    package func info(_ event: LogEvent, omitted: Int = 0, _ fields: @autoclosure () -> Fields = [:]) {
        log(.info, event, omitted: omitted, fields)
    }

    /// Logs a problem that resolves itself; `omitted` is as for ``info(_:omitted:_:)``.
    package func warning(_ event: LogEvent, omitted: Int = 0, _ fields: @autoclosure () -> Fields = [:]) {
        log(.warning, event, omitted: omitted, fields)
    }

    /// Logs a problem that an operator has to resolve; `omitted` is as for ``info(_:omitted:_:)``.
    package func error(_ event: LogEvent, omitted: Int = 0, _ fields: @autoclosure () -> Fields = [:]) {
        log(.error, event, omitted: omitted, fields)
    }

    private func log(_ level: Level, _ event: LogEvent, omitted: Int = 0, _ fields: () -> Fields) {
        guard level >= self.level else { return }
        write(level, event, omitted: omitted, fields())
    }

    /// Writes a line whatever the logger's level is.
    func write(_ level: Level, _ event: LogEvent, omitted: Int = 0, _ fields: @autoclosure () -> Fields) {
        guard let output else { return }
        let line = LogLine(time: clock(), level: level, event: event, omitted: omitted, fields: fields())
        let text = line.text(as: format)
        output((hasPriorities ? "<\(level.priority)>" : "") + text + "\n")
    }
}
