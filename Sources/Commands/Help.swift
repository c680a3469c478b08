/// Writes the help of a program and of each of its commands.
struct Help {
    private let program: String

    init(program: String) {
        self.program = program
    }

    /// The list of commands.
    func overview(_ summary: String, _ commands: [Command]) -> String {
        """
        \(program): \(summary)

        Usage: \(program) <command> [options]

        Commands:
        \(Help.columns(commands.map { ($0.name, $0.summary) }))

        \(program) help <command>, or \(program) <command> --help, explains one with an example.

        """
    }

    /// Everything about one command.
    func text(for command: Command) -> String {
        var sections = ["\(program) \(command.name): \(command.summary)", "Usage: \(usage(of: command))"]
        let arguments = command.parameters.filter { $0.kind == .argument }
        let options = command.parameters.filter { $0.kind != .argument }
        if !arguments.isEmpty {
            sections.append("Arguments:\n" + Help.columns(arguments.map { ($0.label, $0.fullHelp) }))
        }
        if !options.isEmpty {
            sections.append("Options:\n" + Help.columns(options.map { ($0.label, $0.fullHelp) }))
            sections.append(
                "Every option may also be an environment variable: \(options[0].spelling) is \(options[0].variable)."
            )
        }
        if !command.examples.isEmpty {
            sections.append("Examples:\n" + command.examples.map { "  \(program) \($0)" }.joined(separator: "\n"))
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    private func usage(of command: Command) -> String {
        var words = [program, command.name]
        for parameter in command.parameters where parameter.isRequired { words.append(parameter.label) }
        if command.parameters.contains(where: { !$0.isRequired && $0.kind != .argument }) { words.append("[options]") }
        for parameter in command.parameters where !parameter.isRequired && parameter.kind == .argument {
            words.append("[\(parameter.label)]")
        }
        return words.joined(separator: " ")
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { label, help in
            "  " + label + String(repeating: " ", count: width - label.count + 2) + help
        }.joined(separator: "\n")
    }
}

extension ParameterDescription {
    fileprivate var variable: String { ParameterDescription.variable(for: spelling) }

    fileprivate var fullHelp: String {
        var notes: [String] = []
        if isRequired, kind == .option { notes.append("required") }
        if isRepeatable { notes.append("may be repeated") }
        if let fallback { notes.append("default: \(fallback)") }
        return help + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }
}
