/// A program made of commands.
package struct Program: Sendable {
    /// What a person types.
    package let name: String
    private let version: String
    private let summary: String
    private let commands: [Command]

    /// A program from its commands.
    ///
    /// - Parameters:
    ///   - name: What a person types.
    ///   - version: What `--version` prints.
    ///   - summary: What it is, in a line.
    ///   - commands: In the order of the help.
    package init(_ name: String, version: String, _ summary: String, commands: [Command]) {
        self.name = name
        self.version = version
        self.summary = summary
        self.commands = commands
    }

    /// What a command line asks for.
    package enum Request {
        /// Print this and end well.
        case print(String)
        /// Do this.
        case run(Command, Command.Action)
        /// Nothing that can be done: print this as an error and end with status 2.
        case refuse(String)
    }

    /// What the words after the program's name ask for.
    package func request(_ arguments: [String], environment: [String: String]) -> Request {
        let help = Help(program: name)
        guard let first = arguments.first, !["help", "--help", "-h"].contains(first) || arguments.count > 1 else {
            let overview = help.overview(summary, commands)
            return arguments.isEmpty ? .refuse(overview) : .print(overview)
        }
        if first == "--version" { return .print("\(name) \(version)\n") }
        let rest = arguments.dropFirst()
        let wantsHelp = first == "help"
        let words = wantsHelp ? rest : arguments[...]
        guard let command = command(named: words) else { return .refuse(complaint(about: words)) }
        let parameters = words.dropFirst(command.name.split(separator: " ").count)
        if let next = parameters.first, !next.hasPrefix("-"), !command.takesArguments, isFamily(command) {
            return .refuse(complaint(about: words, of: command))
        }
        if wantsHelp || asksForHelp(parameters) { return .print(help.text(for: command)) }
        do throws(UsageError) {
            return .run(command, try command.action(for: parameters, environment: environment))
        } catch {
            return .refuse("\(name) \(command.name): \(error)\nIts options: \(name) \(command.name) --help\n")
        }
    }

    /// The command that the first words name: the longest name that fits.
    private func command(named words: ArraySlice<String>) -> Command? {
        for count in [3, 2, 1] {
            let name = words.prefix(count).joined(separator: " ")
            if let command = commands.first(where: { $0.name == name }) { return command }
        }
        return nil
    }

    /// Whether there are commands whose names go on where this one's ends.
    private func isFamily(_ command: Command) -> Bool {
        commands.contains { $0.name.hasPrefix(command.name + " ") }
    }

    private func complaint(about words: ArraySlice<String>, of command: Command) -> String {
        let family = commands.map(\.name).filter { $0.hasPrefix(command.name + " ") }
        return
            "\(name): unknown command \(words.prefix(2).joined(separator: " ")); besides \(command.name) there are:\n"
            + family.map { "  \(name) \($0)\n" }.joined()
    }

    private func complaint(about words: ArraySlice<String>) -> String {
        let wanted = words.first ?? ""
        let family = commands.map(\.name).filter { $0.hasPrefix(wanted + " ") }
        guard family.isEmpty else {
            return "\(name): \(wanted) what? It is one of:\n" + family.map { "  \(name) \($0)\n" }.joined()
        }
        let hint = NearestName.hint(for: wanted, among: commands.map(\.name))
        return "\(name): unknown command \(wanted)\(hint)\nThe commands: \(name) --help\n"
    }

    private func asksForHelp(_ words: ArraySlice<String>) -> Bool {
        words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    /// Does what the words after the program's name ask for.
    ///
    /// - Returns: The exit status: 0 when all went well, 1 when the command failed, 2 when it was called wrongly.
    package func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        switch request(arguments, environment: environment) {
        case .print(let text):
            Terminal.output.write(text)
            return 0
        case .refuse(let text):
            Terminal.errors.write(text)
            return 2
        case .run(let command, let action):
            do {
                try await action()
                return 0
            } catch let failure as CommandFailure {
                return failure.status
            } catch {
                Terminal.errors.write("\(name) \(command.name): \(error)\n")
                return error is UsageError ? 2 : 1
            }
        }
    }
}

/// Ends a command with a status when everything there is to say has been printed.
package struct CommandFailure: Error {
    let status: Int32

    /// A failure of this status.
    package init(status: Int32 = 1) {
        self.status = status
    }
}
