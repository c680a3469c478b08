// SPDX-License-Identifier: Apache-2.0

/// A generator of completion scripts for zsh 5 and later.
struct ZshCompletion {
    let words: CompletionWords

    var script: String {
        let program = words.program
        let names = words.names.dropFirst().map(\.quoted).joined(separator: "|")
        return """
            #compdef \(program)
            # zsh completion for \(program). Load it with: source <(\(program) completion zsh)
            _\(program)() {
                local name= next=
                local -a choices
                integer index=2
                if [[ $words[2] == help ]] && ((CURRENT > 2)); then index=3; fi
                while ((index < CURRENT)); do
                    next="${name:+$name }$words[index]"
                    case $next in
                        (\(names)) name=$next ;;
                        (*) break ;;
                    esac
                    ((index += 1))
                done
                case "$name $words[CURRENT-1]" in
            \(values)
                esac
                case $name in
            \(followers)
                esac
                _describe -o '\(program)' choices
            }
            # In a directory of fpath this file is the body of the function, and is called.
            if [[ $funcstack[1] == _\(program) ]]; then _\(program) "$@"; else compdef _\(program) \(program); fi

            """
    }

    /// The cases for words after an option that takes a value.
    private var values: String {
        words.valueOptions.map { option in
            let completion =
                switch option.values {
                case .choices(let choices): "compadd -- " + choices.map(\.quoted).joined(separator: " ")
                case .files: "_files"
                case .text: "_message \(option.summary.quoted)"
                }
            return "        (\("\(option.command) \(option.spelling)".quoted)) \(completion); return ;;"
        }.joined(separator: "\n")
    }

    private var followers: String { words.names.map(words(after:)).joined(separator: "\n") }

    /// Returns the case for words after a command, each with its explanation after a colon.
    private func words(after name: String) -> String {
        var all = words.commands(below: name)
        if !name.isEmpty { all += words.options(of: name) }
        var files = ""
        switch words.arguments(of: name) {
        case .choices(let choices)?: all += choices.map { CompletionWords.Word(text: $0, summary: "") }
        case .files?: files = " _files;"
        case .text?, nil: break
        }
        let choices = all.map { word in
            word.summary.isEmpty ? word.text.quoted : "\(word.text):\(word.summary)".quoted
        }
        return "        (\(name.quoted)) choices=(\(choices.joined(separator: " ")));\(files) ;;"
    }
}
