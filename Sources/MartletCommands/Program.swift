// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A program that consists of commands.
package struct Program: Sendable {
    /// The program's name.
    package let name: String
    let summary: String
    let commands: [Command]
    let groups: [CommandGroup]
    private let report: @Sendable (any Error) -> ErrorReport

    /// Creates a program.
    ///
    /// - Parameters:
    ///   - name: The program's name.
    ///   - summary: The purpose, in a line.
    ///   - commands: The commands, in the order of the help; the command `version` also handles `--version`.
    ///   - groups: The summaries of commands that share their first words.
    ///   - report: Returns the exit status and the texts for an error.
    package init(
        _ name: String,
        _ summary: String,
        commands: [Command],
        groups: [CommandGroup] = [],
        report: @escaping @Sendable (any Error) -> ErrorReport
    ) {
        self.name = name
        self.summary = summary
        self.commands = commands
        self.groups = groups
        self.report = report
    }

    /// The action that a command line requests.
    package enum Request {
        /// Print the text and exit 0.
        case print(String)
        /// Run the command.
        case run(Command, Command.Action)
        /// Print the text, or the message as JSON, and exit 2.
        case refuse(text: String, message: String)
    }

    /// Returns the action that the words after the program's name request.
    package func request(_ arguments: [String], environment: [String: String], width: Int = 100) -> Request {
        let help = Help(self, width: width)
        guard let first = arguments.first else {
            return .refuse(text: help.overview, message: "a command is missing")
        }
        let rest = arguments.dropFirst()
        if first == "help" || Program.helpOptions.contains(first) {
            return rest.isEmpty ? .print(help.overview) : explanation(of: rest, help)
        }
        if first == "--version" {
            return request(["version"] + rest, environment: environment, width: width)
        }
        guard !first.hasPrefix("-") else {
            let spelling = ShownValue(String(first.prefix { $0 != "=" }))
            return refusal("unknown option \(spelling)", see: "--help")
        }
        switch find(arguments[...]) {
        case .unknown(let message, let place): return refusal(message, see: place)
        case .group(let name, let rest):
            guard !rest.contains(where: Program.helpOptions.contains) else { return .print(help.text(forGroup: name)) }
            return .refuse(text: help.text(forGroup: name), message: "\(name) requires a command")
        case .command(let command, let rest):
            if rest.prefix(while: { $0 != "--" }).contains(where: Program.helpOptions.contains) {
                return .print(help.text(for: command))
            }
            do throws(UsageError) {
                return .run(command, try command.action(for: rest, environment: environment))
            } catch {
                return refusal("\(error)", in: command.name + ": ", see: "\(command.name) --help")
            }
        }
    }

    private static let helpOptions = ["--help", "-h"]

    /// The command or group that the first words name, with the words after it.
    private enum Target {
        case command(Command, ArraySlice<String>)
        case group(String, ArraySlice<String>)
        case unknown(message: String, place: String)
    }

    /// Finds the longest matching name.
    private func find(_ words: ArraySlice<String>) -> Target {
        let names = words.prefix { !$0.hasPrefix("-") }
        for count in [3, 2, 1] where count <= names.count {
            let name = names.prefix(count).joined(separator: " ")
            let rest = words.dropFirst(count)
            let command = commands.first { $0.name == name }
            if isGroup(name), command?.takesArguments != true, let next = rest.first, !next.hasPrefix("-") {
                let known = commands.filter { $0.isSuggested && $0.name.hasPrefix(name + " ") }.map(\.name)
                let wanted = "\(name) \(next)"
                var hint = NearestName.hint(for: wanted, among: known)
                // The group's name alone may be what was meant.
                if hint.isEmpty, let example = command?.examples.first {
                    hint = "; did you mean \(self.name) \(example)?"
                }
                return .unknown(message: "unknown command \(ShownValue.quoted(wanted))\(hint)", place: "\(name) --help")
            }
            if let command { return .command(command, rest) }
            if isGroup(name) { return .group(name, rest) }
        }
        let wanted = words.first ?? ""
        let known = Set(commands.filter(\.isSuggested).flatMap { [$0.name, String($0.name.prefix { $0 != " " })] })
            .sorted()
        return .unknown(
            message: "unknown command \(ShownValue.quoted(wanted))\(NearestName.hint(for: wanted, among: known))",
            place: "--help"
        )
    }

    private func explanation(of words: ArraySlice<String>, _ help: Help) -> Request {
        switch find(words) {
        case .command(let command, _): .print(help.text(for: command))
        case .group(let name, _): .print(help.text(forGroup: name))
        case .unknown(let message, let place): refusal(message, see: place)
        }
    }

    /// Whether there are commands whose names extend this name by a word.
    func isGroup(_ name: String) -> Bool {
        commands.contains { $0.name.hasPrefix(name + " ") }
    }

    private func refusal(_ message: String, in command: String = "", see place: String) -> Request {
        let subject = command.isEmpty ? "\(name): " : "\(name) \(command)"
        return .refuse(text: "\(subject)\(message)\nRun \"\(name) \(place)\" for help.\n", message: message)
    }

    /// Reports an error that occurs before the words after the program's name are parsed.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - arguments: The words after the program's name; with `--json` the error is reported as JSON.
    /// - Returns: The exit status.
    package func fail(_ error: UsageError, _ arguments: [String]) -> Int32 {
        write(report(error), text: "\(name): \(error)\n", asksForJSON(arguments))
    }

    /// Runs the command that the words after the program's name request.
    ///
    /// With `--json`, an error is a JSON object on standard output, otherwise a line on standard error.
    ///
    /// - Returns: The exit status, an ``ExitStatus``; not success if the output could not be written.
    package func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        let status = await status(of: arguments, environment: environment)
        guard let failure = Terminal.output.failure else { return status }
        Terminal.errors.write("\(name): standard output cannot be written: \(failure)\n")
        return max(status, ExitStatus.failure.rawValue)
    }

    private func status(of arguments: [String], environment: [String: String]) async -> Int32 {
        let isJSON = asksForJSON(arguments) || ["1", "true"].contains(environment["MARTLET_JSON"])
        switch request(arguments, environment: environment, width: Terminal.output.width) {
        case .print(let text):
            Terminal.output.write(text)
            return ExitStatus.success.rawValue
        case .refuse(let text, let message):
            return write(report(UsageError(message)), text: text, isJSON)
        case .run(let command, let action):
            do {
                try await action()
                return ExitStatus.success.rawValue
            } catch let failure as CommandFailure {
                return failure.status.rawValue
            } catch {
                let report = report(error)
                return write(report, text: "\(name) \(command.name): \(report.message)\n", isJSON)
            }
        }
    }

    /// Whether the words contain the flag `--json`, even if other words are invalid.
    private func asksForJSON(_ arguments: [String]) -> Bool {
        switch find(arguments[...]) {
        case .command(let command, let rest): ArgumentReader.contain("--json", in: rest, for: command.parameters)
        case .group, .unknown: ArgumentReader.contain("--json", in: arguments, for: [])
        }
    }

    private func write(_ report: ErrorReport, text: String, _ isJSON: Bool) -> Int32 {
        if isJSON { Terminal.output.write(report.json + "\n") } else { Terminal.errors.write(text) }
        return report.status.rawValue
    }
}
