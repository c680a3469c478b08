// SPDX-License-Identifier: Apache-2.0

/// A generator of completion scripts for bash 3.2 and later.
struct BashCompletion {
    let words: CompletionWords

    var script: String {
        let program = words.program
        let names = words.names.dropFirst().map(\.quoted).joined(separator: " | ")
        return """
            # bash completion for \(program). Load it with: source <(\(program) completion bash)
            _\(program)_files() {
                local IFS=$'\\n'
                compopt -o filenames 2>/dev/null
                COMPREPLY+=($(compgen -f -- "$1"))
            }
            _\(program)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
                local name= next= words= index=1
                COMPREPLY=()
                if [[ ${COMP_WORDS[1]} == help && COMP_CWORD -gt 1 ]]; then index=2; fi
                while ((index < COMP_CWORD)); do
                    next="${name:+$name }${COMP_WORDS[index]}"
                    case $next in
                        \(names)) name=$next ;;
                        *) break ;;
                    esac
                    index=$((index + 1))
                done
                case "$name $previous" in
            \(values)
                esac
                case $name in
            \(followers)
                esac
                COMPREPLY+=($(compgen -W "$words" -- "$current"))
            }
            complete -F _\(program) \(program)

            """
    }

    /// The cases for words after an option that takes a value.
    private var values: String {
        words.valueOptions.map { option in
            let completion =
                switch option.values {
                case .choices(let choices):
                    #"COMPREPLY=($(compgen -W \#(choices.joined(separator: " ").quoted) -- "$current")); "#
                case .files: #"_\#(words.program)_files "$current"; "#
                case .text: ""
                }
            return "        \("\(option.command) \(option.spelling)".quoted)) \(completion)return ;;"
        }.joined(separator: "\n")
    }

    private var followers: String { words.names.map(words(after:)).joined(separator: "\n") }

    /// Returns the case for words after a command.
    private func words(after name: String) -> String {
        var all = words.commands(below: name).map(\.text)
        if !name.isEmpty { all += words.options(of: name).map(\.text) }
        var files = ""
        switch words.arguments(of: name) {
        case .choices(let choices)?: all += choices
        case .files?: files = #" _\#(words.program)_files "$current";"#
        case .text?, nil: break
        }
        return "        \(name.quoted)) words=\(all.joined(separator: " ").quoted);\(files) ;;"
    }
}
