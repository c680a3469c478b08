// SPDX-License-Identifier: Apache-2.0

/// The shells that completion scripts are generated for.
package enum Shell: String, CaseIterable, ArgumentValue {
    case bash
    case zsh
    case fish
}

extension Program {
    /// Returns the completion script for a shell, generated from the declared commands.
    package func completion(for shell: Shell) -> String {
        let words = CompletionWords(self)
        return switch shell {
        case .bash: BashCompletion(words: words).script
        case .zsh: ZshCompletion(words: words).script
        case .fish: FishCompletion(words: words).script
        }
    }
}

/// The words that may follow each command, for the generators of completion scripts.
struct CompletionWords {
    /// A word and its explanation.
    struct Word {
        var text: String
        var summary: String
    }

    /// The possible values of a parameter.
    enum Values {
        /// One of these.
        case choices([String])
        /// The path of a file.
        case files
        /// Any text.
        case text
    }

    /// An option of a command that takes a value.
    struct ValueOption {
        var command: String
        var spelling: String
        var summary: String
        var values: Values
    }

    /// The program's name.
    let program: String
    /// The names of all commands and groups, preceded by the empty name.
    let names: [String]
    private let source: Program

    init(_ program: Program) {
        self.program = program.name
        source = program
        var names = [""]
        for command in program.commands {
            var name = ""
            for word in command.name.split(separator: " ") {
                name += (name.isEmpty ? "" : " ") + word
                if !names.contains(name) { names.append(name) }
            }
        }
        self.names = names
    }

    /// Returns the words that extend the name of a group by one word.
    func commands(below name: String) -> [Word] {
        let prefix = name.isEmpty ? "" : name + " "
        var words = names.filter { !$0.isEmpty && $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains(" ") }
            .map { Word(text: String($0.dropFirst(prefix.count)), summary: summary(of: $0)) }
        if name.isEmpty { words.append(Word(text: "help", summary: "Show the help of a command")) }
        return words
    }

    /// Returns the options and flags of a command.
    func options(of name: String) -> [Word] {
        let options = parameters(of: name).filter { $0.kind != .argument }
        return options.map { Word(text: $0.spelling, summary: $0.help) }
            + [Word(text: "--help", summary: "Show the help")]
    }

    /// Returns the values of a command's first argument; nil if it has none.
    func arguments(of name: String) -> Values? {
        parameters(of: name).first { $0.kind == .argument }.map(CompletionWords.values)
    }

    /// All options that take a value.
    var valueOptions: [ValueOption] {
        names.flatMap { name in
            parameters(of: name).filter { $0.kind == .option }.map { parameter in
                ValueOption(
                    command: name,
                    spelling: parameter.spelling,
                    summary: parameter.help,
                    values: CompletionWords.values(of: parameter)
                )
            }
        }
    }

    private func parameters(of name: String) -> [ParameterDescription] {
        source.commands.first { $0.name == name }?.parameters ?? []
    }

    private func summary(of name: String) -> String {
        source.groups.first { $0.name == name }?.summary ?? source.commands.first { $0.name == name }?.summary ?? ""
    }

    private static func values(of parameter: ParameterDescription) -> Values {
        if parameter.isFile { return .files }
        return parameter.choices.isEmpty ? .text : .choices(parameter.choices)
    }
}

extension String {
    /// The text, quoted as a single word for a shell.
    var quoted: String { "'" + replacing("'", with: #"'\''"#) + "'" }
}
