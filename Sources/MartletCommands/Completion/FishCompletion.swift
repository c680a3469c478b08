// SPDX-License-Identifier: Apache-2.0

/// A generator of completion scripts for fish 3 and later.
struct FishCompletion {
    let words: CompletionWords

    var script: String {
        let program = words.program
        let names = words.names.dropFirst().map(\.quoted).joined(separator: " ")
        return """
            # fish completion for \(program). Load it with: \(program) completion fish | source
            function __\(program)_command
                set -l name ''
                set -l words (commandline -opc)[2..-1]
                if test "$words[1]" = help
                    set -e words[1]
                end
                for word in $words
                    set -l next (string trim -- "$name $word")
                    if contains -- "$next" \(names)
                        set name $next
                    else
                        break
                    end
                end
                test "$name" = "$argv[1]"
            end
            complete -c \(program) -f
            \(words.names.flatMap(lines).joined(separator: "\n"))

            """
    }

    /// Returns the lines for words after a command.
    private func lines(for name: String) -> [String] {
        let start = "complete -c \(words.program) -n \("__\(words.program)_command \(name.quoted)".quoted)"
        var lines = words.commands(below: name).map { "\(start) -a \($0.text.quoted) -d \($0.summary.quoted)" }
        switch words.arguments(of: name) {
        case .choices(let choices)?: lines.append("\(start) -a \(choices.joined(separator: " ").quoted)")
        case .files?: lines.append("\(start) -F")
        case .text?, nil: break
        }
        guard !name.isEmpty else { return lines }
        let values = words.valueOptions.filter { $0.command == name }
        return lines
            + words.options(of: name).map { option in
                let value = values.first { $0.spelling == option.text }?.values
                let completion =
                    switch value {
                    case .choices(let choices)?: " -x -a \(choices.joined(separator: " ").quoted)"
                    case .files?: " -r -F"
                    case .text?: " -x"
                    case nil: ""
                    }
                return "\(start) -l \(option.text.dropFirst(2))\(completion) -d \(option.summary.quoted)"
            }
    }
}
