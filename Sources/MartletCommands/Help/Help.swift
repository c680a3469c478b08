// SPDX-License-Identifier: Apache-2.0

/// A generator of the help for a program, its groups and its commands.
struct Help {
    private let program: Program
    private let layout: TextLayout

    init(_ program: Program, width: Int) {
        self.program = program
        layout = TextLayout(width: width)
    }

    /// The help of the program: its commands, common options and exit statuses.
    var overview: String {
        text([
            layout.wrapped("\(program.name): \(program.summary)"), "Usage: \(program.name) <command> [options]",
            "Commands:\n" + layout.columns(program.overview),
            "Options:\n"
                + layout.columns([
                    ("-h, --help", "Show this help, or the help of a command"),
                    ("--version", "Print the version"),
                ]), exitStatuses, more(of: "<command>"),
        ])
    }

    /// Returns the help of a group: its commands.
    func text(forGroup name: String) -> String {
        let summary = program.groups.first { $0.name == name }.map { ": \($0.summary)" } ?? ""
        return text([
            layout.wrapped("\(program.name) \(name)\(summary)"), "Usage: \(program.name) \(name) <command> [options]",
            commands(in: name), more(of: "\(name) <command>"),
        ])
    }

    /// Returns the help of a command.
    func text(for command: Command) -> String {
        var sections = [
            layout.wrapped("\(program.name) \(command.name): \(command.summary)"),
            "Usage: " + layout.wrapped(usage(of: command), indent: 7),
        ]
        let arguments = command.parameters.filter { $0.kind == .argument }
        let options = command.parameters.filter { $0.kind != .argument }
        if program.isGroup(command.name) { sections.append(commands(in: command.name)) }
        if !arguments.isEmpty {
            sections.append("Arguments:\n" + layout.columns(arguments.map { ($0.label, $0.fullHelp) }))
        }
        if !options.isEmpty {
            sections.append("Options:\n" + layout.columns(options.map { ($0.label, $0.fullHelp) }))
            let first = options[0]
            sections.append(
                layout.wrapped(
                    "Environment variables set options that are not given: \(first.variable) sets \(first.spelling)."
                )
            )
        }
        for parameter in arguments + options where !parameter.choiceSummaries.isEmpty {
            let rows = zip(parameter.choices, parameter.choiceSummaries).map { (label: $0, text: $1) }
            let name = parameter.kind == .argument ? parameter.label : parameter.spelling
            sections.append("Values of \(name):\n" + layout.columns(rows))
        }
        if !command.examples.isEmpty {
            let lines = command.examples.map { layout.commandLine("\(program.name) \($0)", indent: 2) }
            sections.append("Examples:\n" + lines.joined(separator: "\n"))
        }
        return text(sections)
    }

    /// Returns the usage line of a command, without the word "Usage".
    func usage(of command: Command) -> String {
        var words = [program.name, command.name]
        for parameter in command.parameters where parameter.isRequired { words.append(parameter.label) }
        if command.parameters.contains(where: { !$0.isRequired && $0.kind != .argument }) { words.append("[options]") }
        for parameter in command.parameters where !parameter.isRequired && parameter.kind == .argument {
            words.append("[\(parameter.label)]")
        }
        return words.joined(separator: " ")
    }

    private var exitStatuses: String {
        "Exit status (the highest, when several devices fail):\n"
            + layout.columns(ExitStatus.allCases.map { ("\($0.rawValue)", $0.summary) })
    }

    private func commands(in group: String) -> String {
        let commands = program.commands.filter { $0.name.hasPrefix(group + " ") }
        return "Commands:\n" + layout.columns(commands.map { ($0.name, $0.summary) })
    }

    private func more(of command: String) -> String {
        layout.wrapped("Run \"\(program.name) help \(command)\" for the options and examples of a command.")
    }

    private func text(_ sections: [String]) -> String {
        sections.joined(separator: "\n\n") + "\n"
    }
}

extension Program {
    /// The first words of all commands with their summaries, without duplicates.
    fileprivate var overview: [(label: String, text: String)] {
        var rows: [(label: String, text: String)] = []
        for command in commands {
            let word = command.name.split(separator: " ").first.map(String.init) ?? ""
            guard !rows.contains(where: { $0.label == word }) else { continue }
            let group = groups.first { $0.name == word }
            rows.append((word, group?.summary ?? command.summary))
        }
        return rows
    }
}

extension ParameterDescription {
    /// The help, with notes about the declaration such as "required" and the default.
    var fullHelp: String {
        var notes: [String] = []
        if isRequired, kind == .option { notes.append("required") }
        if isRepeatable { notes.append("may be repeated") }
        if !choiceSummaries.isEmpty {
            notes.append("values: see below")
        } else if !choices.isEmpty, valueName != choices.joined(separator: "|") {
            notes.append("one of: " + choices.joined(separator: ", "))
        }
        if let fallback { notes.append("default: \(fallback)") }
        if hasOwnVariable { notes.append("variable: \(variable)") }
        return help + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    }
}
