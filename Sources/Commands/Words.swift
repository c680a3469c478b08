/// The words of one command line that no parameter has taken yet.
package struct Words {
    private var options: [(spelling: String, value: String)] = []
    private var arguments: [String] = []
    private let environment: [String: String]

    /// Sorts the words by what the command declares.
    init(
        _ words: some Sequence<String>,
        for parameters: [ParameterDescription],
        environment: [String: String]
    ) throws(UsageError) {
        self.environment = environment
        var words = words.makeIterator()
        while let word = words.next() {
            if word == "--" {
                while let rest = words.next() { arguments.append(rest) }
            } else if word.hasPrefix("-"), word != "-" {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                try addOption(parts[0], parts.count > 1 ? parts[1] : nil, parameters) { words.next() }
            } else {
                arguments.append(word)
            }
        }
    }

    private mutating func addOption(
        _ spelling: String,
        _ attached: String?,
        _ parameters: [ParameterDescription],
        _ nextWord: () -> String?
    ) throws(UsageError) {
        let known = parameters.filter { $0.kind != .argument }
        guard let parameter = known.first(where: { $0.spelling == spelling }) else {
            throw UsageError(
                "unknown option \(spelling)" + NearestName.hint(for: spelling, among: known.map(\.spelling))
            )
        }
        if parameter.kind == .flag {
            guard attached == nil else { throw UsageError("\(spelling) takes no value") }
            options.append((spelling, ""))
        } else {
            guard let value = attached ?? nextWord() else { throw UsageError("\(parameter.label) needs a value") }
            options.append((spelling, value))
        }
    }

    /// Takes the values of an option, in order; when there are none, what the environment has instead.
    mutating func takeValues(of parameter: ParameterDescription) -> [String] {
        let values = options.filter { $0.spelling == parameter.spelling }.map(\.value)
        options.removeAll { $0.spelling == parameter.spelling }
        guard values.isEmpty else { return values }
        return environment[parameter.variable].map { [$0] } ?? []
    }

    /// Takes a flag; true when it was there.
    mutating func takeFlag(_ parameter: ParameterDescription) throws(UsageError) -> Bool {
        let count = options.count { $0.spelling == parameter.spelling }
        options.removeAll { $0.spelling == parameter.spelling }
        if count > 0 { return true }
        switch environment[parameter.variable] {
        case nil, "", "0", "false": return false
        case "1", "true": return true
        case let value?: throw UsageError("\(parameter.variable) must be 1 or 0 (found \"\(value)\")")
        }
    }

    /// Takes the next argument.
    mutating func takeArgument() -> String? {
        arguments.isEmpty ? nil : arguments.removeFirst()
    }

    func checkNothingIsLeft() throws(UsageError) {
        if let argument = arguments.first { throw UsageError("unexpected argument \"\(argument)\"") }
    }
}
