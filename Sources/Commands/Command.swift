/// A named action of a program with typed parameters: the closure receives exactly what was declared.
///
/// The module `Commands` turns the words of a command line into values, writes the help that belongs to them, and
/// prints tables. Declaring a parameter is all there is to do: parsing, help and hints follow from it.
///
/// ```swift
/// Command("greet", "Say hello", examples: ["greet --times 2 world"],
///         Option("--times", "How often", default: 1), Argument<String>("name", "Whom to greet")) { times, name in
///     for _ in 0..<times { print("Hello, \(name)!") }
/// }
/// ```
package struct Command: Sendable {
    /// What a person types: one word, or up to three for a command of a family.
    package let name: String
    /// What it does, in a line.
    package let summary: String
    /// Whole command lines without the program's name, each followed by what it does if that is not plain.
    package let examples: [String]
    let parameters: [ParameterDescription]
    private let bind: @Sendable (inout Words) throws(UsageError) -> Action

    /// What a command does once its parameters are known.
    package typealias Action = @Sendable () async throws -> Void

    /// A command from its declarations.
    ///
    /// - Parameters:
    ///   - name: What a person types.
    ///   - summary: What it does, in a line.
    ///   - examples: Whole command lines, without the program's name.
    ///   - parameters: The options, flags and arguments; arguments are filled in their order.
    ///   - run: Does it; what it throws is shown to the person. (`@concurrent`, as Swift 6.3 cannot compile a closure
    ///     over a parameter pack that stays on its caller's executor.)
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
        bind = { (words: inout Words) throws(UsageError) in
            let values = (repeat try (each parameters).take(from: &words))
            return { try await run(repeat each values) }
        }
    }

    /// Whether words without dashes may follow its name.
    var takesArguments: Bool { parameters.contains { $0.kind == .argument } }

    /// The action that these words ask for.
    ///
    /// - Parameters:
    ///   - arguments: The words after the command's name.
    ///   - environment: Variables that stand in for options that are not there: `MARTLET_KEY_ID` for `--key-id`.
    /// - Returns: What is to be done.
    /// - Throws: ``UsageError`` for an unknown, missing or unusable word.
    package func action(
        for arguments: some Sequence<String>,
        environment: [String: String] = [:]
    ) throws(UsageError) -> Action {
        var words = try Words(arguments, for: parameters, environment: environment)
        let action = try bind(&words)
        try words.checkNothingIsLeft()
        return action
    }
}
