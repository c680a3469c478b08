package import APNs

/// Tells people and programs what happens in a relay, a line at a time; what is not worth telling costs nothing.
///
/// Device tokens are handed in shortened; payloads, keys and provider tokens never are.
package struct Logger: Sendable {
    /// How much a line matters.
    package enum Level: String, Sendable, Hashable, CaseIterable, Comparable {
        case debug
        case info
        case warning
        case error

        /// The priority that the system's journal knows it by (syslog(3)).
        var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .warning: 4
            case .error: 3
            }
        }

        /// Whether one matters less than another.
        package static func < (left: Level, right: Level) -> Bool { left.priority > right.priority }
    }

    /// How lines are written.
    package enum Format: String, Sendable, Hashable, CaseIterable {
        /// An object in JSON.
        case json
        /// `name=value`, as in `level=info msg="the relay runs"`.
        case logfmt
        /// The time, the message and what belongs to it, for people.
        case plain
    }

    /// What belongs to a message, by name; what is nil is left out.
    package typealias Fields = KeyValuePairs<String, JSONValue?>

    private let level: Level
    private let format: Format
    private let hasPriorities: Bool
    private let clock: @Sendable () -> Int64
    private let output: (@Sendable (String) -> Void)?

    /// A logger that writes nothing.
    package static let silent = Logger(level: .error, format: .json, hasPriorities: false, clock: { 0 }, output: nil)

    /// A logger of a relay.
    ///
    /// - Parameters:
    ///   - level: The least that is written.
    ///   - format: How lines are written.
    ///   - hasPriorities: Whether each line begins with its priority, as the system's journal reads it (sd-daemon(3)).
    ///   - clock: Milliseconds since 1970.
    ///   - output: Takes a line with its line break.
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

    /// The same, whose lines go another way.
    package func through(_ output: @escaping @Sendable (String) -> Void) -> Logger {
        Logger(level: level, format: format, hasPriorities: hasPriorities, clock: clock, output: output)
    }

    /// The same, which writes from another level on.
    package func at(_ level: Level) -> Logger {
        Logger(level: level, format: format, hasPriorities: hasPriorities, clock: clock, output: output)
    }

    /// Writes a line that is ready.
    func write(_ line: String) { output?(line) }

    /// Says what only somebody wants to know who looks for a mistake.
    package func debug(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        log(.debug, message, fields)
    }

    /// Says what has happened in the course of things.
    package func info(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        log(.info, message, fields)
    }

    /// Says what is not as it should be, and mends itself.
    package func warning(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        log(.warning, message, fields)
    }

    /// Says what somebody has to mend.
    package func error(_ message: String, _ fields: @autoclosure () -> Fields = [:]) {
        log(.error, message, fields)
    }

    private func log(_ level: Level, _ message: String, _ fields: () -> Fields) {
        guard level >= self.level else { return }
        write(level, message, fields())
    }

    /// Writes a line whatever the logger's level is.
    func write(_ level: Level, _ message: String, _ fields: @autoclosure () -> Fields) {
        guard let output else { return }
        let line = LogLine(time: clock(), level: level, message: message, fields: fields())
        let text = line.text(as: format)
        output((hasPriorities ? "<\(level.priority)>" : "") + text + "\n")
    }
}
