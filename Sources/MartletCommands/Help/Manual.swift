// SPDX-License-Identifier: Apache-2.0

/// A generator of the manual page of a program for `man`, in roff.
struct Manual {
    let program: Program
    let version: String

    /// The manual page.
    var text: String {
        let name = program.name
        let lines = [
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"", ".SH NAME",
            "\(name) \\- \(escaped(program.summary))", ".SH SYNOPSIS", ".B \(name)", ".I command", ".RI [ options ]",
            ".SH COMMANDS",
        ]
        return (lines + program.commands.flatMap(section) + exitStatuses + variables).joined(separator: "\n") + "\n"
    }

    /// Returns the section of a command: usage, parameters and examples.
    private func section(for command: Command) -> [String] {
        let usage = Help(program, width: .max).usage(of: command)
        var lines = [".SS \(escaped("\(program.name) \(command.name)"))", escaped(command.summary + "."), ".PP"]
        lines += [".nf", escaped(usage), ".fi"]
        for parameter in command.parameters {
            lines += [".TP", ".B \(escaped(parameter.label))", escaped(parameter.fullHelp + ".")]
        }
        guard !command.examples.isEmpty else { return lines }
        lines += [".PP", "Examples:", ".PP", ".nf"]
        for example in command.examples {
            let text = TextLayout(width: 70).commandLine("\(program.name) \(example)", indent: 0)
            lines += text.split(separator: "\n").map { escaped(String($0)) }
        }
        return lines + [".fi"]
    }

    private var exitStatuses: [String] {
        [".SH EXIT STATUS", "The highest status applies when several devices fail."]
            + ExitStatus.allCases.flatMap { [".TP", ".B \($0.rawValue)", escaped($0.summary)] }
    }

    private var variables: [String] {
        let option = program.commands.lazy.flatMap(\.parameters).first { $0.kind == .option && !$0.hasOwnVariable }
        let example = option.map { ": \($0.variable) sets \($0.spelling)" } ?? ""
        return [".SH ENVIRONMENT", escaped("Environment variables set options that are not given\(example).")]
    }

    /// Escapes text that roff would interpret as a request or an escape.
    private func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}

extension Program {
    /// Returns the manual page, generated from the declared commands.
    ///
    /// - Parameter version: The program's version.
    /// - Returns: Text in roff, with the macros of `man`.
    package func manual(version: String) -> String {
        Manual(program: self, version: version).text
    }
}
