// SPDX-License-Identifier: Apache-2.0

/// A named command of a program with typed parameters: the closure receives exactly the declared values.
///
/// The module `MartletCommands` parses command lines, generates help, completion scripts and manual pages, and prints
/// tables. Parsing, help and hints all follow from the declaration of a parameter.
///
/// ```swift
/// Command("greet", "Say hello", examples: ["greet --times 2 world"],
///         Option("--times", "Number of greetings", default: 1), Argument<String>("name", "Name")) { times, name in
///     for _ in 0..<times { print("Hello, \(name)!") }
/// }
/// ```
package struct Command: Sendable {
    /// The command's name: one word, or up to three words for a command in a group.
    package let name: String
    /// The purpose, in a line.
    package let summary: String
    /// Complete command lines without the program's name, each optionally followed by an explanation.
    package let examples: [String]
    /// Whether the command is suggested for a misspelled one.
    private(set) var isSuggested = true
    let parameters: [ParameterDescription]
    private let bind: @Sendable (inout ArgumentReader) throws(UsageError) -> Action

    /// The action of a command whose parameters have been parsed.
    package typealias Action = @Sendable () async throws -> Void

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - summary: The purpose, in a line.
    ///   - examples: Complete command lines, without the program's name.
    ///   - parameters: The options, flags and arguments; arguments are filled in this order.
    ///   - run: Runs the command; its errors are reported to the user. It is `@concurrent`, because Swift 6.3 cannot
    ///     compile a closure over a parameter pack that stays on its caller's executor.
    package init<each P: Parameter>(
        _ name: String,
        _ summary: String,
        examples: [String],
        _ parameters: repeat each P,
        run: @escaping @Sendable @concurrent (repeat (each P).Value) async throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.examples = examples
        var descriptions: [ParameterDescription] = []
        for parameter in repeat each parameters { descriptions += parameter.descriptions }
        self.parameters = descriptions
        bind = { (words: inout ArgumentReader) throws(UsageError) in
            let values = (repeat try (each parameters).take(from: &words))
            return { try await run(repeat each values) }
        }
    }

    /// Returns the command without being suggested for a misspelled one, because it ends or deletes something.
    package func neverSuggested() -> Command {
        var command = self
        command.isSuggested = false
        return command
    }

    /// Whether the command has arguments (words without dashes).
    var takesArguments: Bool { parameters.contains { $0.kind == .argument } }

    /// Parses the words after the command's name.
    ///
    /// - Parameters:
    ///   - arguments: The words after the command's name.
    ///   - environment: The environment variables, which set options that are not given: `MARTLET_KEY_ID` for
    ///     `--key-id`.
    /// - Returns: The action.
    /// - Throws: ``UsageError`` for an unknown, missing or invalid word.
    package func action(
        for arguments: some Sequence<String>,
        environment: [String: String] = [:]
    ) throws(UsageError) -> Action {
        var words = try ArgumentReader(arguments, for: parameters, environment: environment)
        let action = try bind(&words)
        try words.checkEnd()
        return action
    }
}
