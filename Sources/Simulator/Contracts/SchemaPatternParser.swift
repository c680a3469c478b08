/// A part of a regular expression.
indirect enum SchemaPatternNode {
    case scalar(ScalarClass)
    case start
    case end
    case sequence([SchemaPatternNode])
    case choice([SchemaPatternNode])
    case repetition(SchemaPatternNode, minimum: Int, maximum: Int?)
}

/// Reads regular expressions: the grammar of ECMA-262 with the flag `u`, without what looks around or back.
struct SchemaPatternParser {
    /// Groups within groups.
    private static let depthLimit = 32
    /// What may stand behind a `\` for itself.
    private static let syntax = "^$\\.*+?()[]{}|/-".unicodeScalars
    private static let controls: [Unicode.Scalar: UInt32] = ["t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0]

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    mutating func parse() throws(SchemaPatternError) -> SchemaPatternNode {
        let node = try parseChoice()
        guard index == scalars.count else { throw refusal("has a ) too many") }
        return node
    }

    private func refusal(_ message: String) -> SchemaPatternError {
        SchemaPatternError(description: message)
    }

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func take() throws(SchemaPatternError) -> Unicode.Scalar {
        guard let scalar = next else { throw refusal("ends too early") }
        index += 1
        return scalar
    }

    private mutating func skip(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    private mutating func parseChoice() throws(SchemaPatternError) -> SchemaPatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= SchemaPatternParser.depthLimit else { throw refusal("has groups nested too deeply") }
        var branches: [SchemaPatternNode] = []
        repeat {
            var sequence: [SchemaPatternNode] = []
            while let scalar = next, scalar != "|", scalar != ")" { sequence.append(try parseTerm()) }
            branches.append(.sequence(sequence))
        } while skip("|")
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func parseTerm() throws(SchemaPatternError) -> SchemaPatternNode {
        switch try take() {
        case "^": return .start
        case "$": return .end
        case ".": return try parseQuantifier(of: .scalar(.any))
        case "[": return try parseQuantifier(of: .scalar(try parseClass()))
        case "(": return try parseQuantifier(of: try parseGroup())
        case "\\": return try parseQuantifier(of: .scalar(try parseEscape()))
        case let scalar where "*+?{}]".unicodeScalars.contains(scalar):
            throw refusal("has a \(scalar) that belongs to nothing: write \\\(scalar) for the character itself")
        case let scalar: return try parseQuantifier(of: .scalar(.one(scalar)))
        }
    }

    private mutating func parseGroup() throws(SchemaPatternError) -> SchemaPatternNode {
        if skip("?") {
            if skip("<"), next != "=", next != "!" {
                while try take() != ">" {}
            } else if !skip(":") {
                throw refusal("looks around, which is not checked here")
            }
        }
        let node = try parseChoice()
        guard skip(")") else { throw refusal("has a ( without its )") }
        return node
    }

    private mutating func parseQuantifier(of node: SchemaPatternNode) throws(SchemaPatternError) -> SchemaPatternNode {
        let minimum: Int
        let maximum: Int?
        switch next {
        case "*": (minimum, maximum) = (0, nil)
        case "+": (minimum, maximum) = (1, nil)
        case "?": (minimum, maximum) = (0, 1)
        case "{":
            index += 1
            minimum = try parseNumber()
            if skip(",") { maximum = next == "}" ? nil : try parseNumber() } else { maximum = minimum }
            guard next == "}", maximum.map({ $0 >= minimum }) ?? true else { throw refusal("has a wrong {…}") }
        default: return node
        }
        index += 1
        // As few as possible or as many: whether it fits is the same.
        _ = skip("?")
        return .repetition(node, minimum: minimum, maximum: maximum)
    }

    private mutating func parseNumber() throws(SchemaPatternError) -> Int {
        var digits = ""
        while let scalar = next, ScalarClass.digit.contains(scalar) {
            digits.unicodeScalars.append(scalar)
            index += 1
        }
        guard let number = Int(digits), number <= SchemaPattern.stepLimit else {
            throw refusal("has a {…} without a number, or with one beyond \(SchemaPattern.stepLimit)")
        }
        return number
    }

    private mutating func parseClass() throws(SchemaPatternError) -> ScalarClass {
        let isInverted = skip("^")
        var ranges: [ClosedRange<UInt32>] = []
        while true {
            let scalar = try take()
            if scalar == "]" { return ScalarClass(ranges: ranges, isInverted: isInverted) }
            let first = scalar == "\\" ? try parseEscape() : .one(scalar)
            guard !first.isInverted else { throw refusal("has \\D, \\S or \\W within […], which is not checked here") }
            guard let start = first.single, next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                ranges += first.ranges
                continue
            }
            index += 1
            let scalarAfter = try take()
            let last = scalarAfter == "\\" ? try parseEscape() : .one(scalarAfter)
            guard let end = last.single, start <= end else { throw refusal("has a wrong range within […]") }
            ranges.append(start...end)
        }
    }

    private mutating func parseEscape() throws(SchemaPatternError) -> ScalarClass {
        let scalar = try take()
        switch scalar {
        case "d": return .digit
        case "D": return .digit.inverted
        case "w": return .word
        case "W": return .word.inverted
        case "s": return .space
        case "S": return .space.inverted
        case "x": return .one(try parseHexadecimal(2))
        case "u": return .one(try parseHexadecimal(4))
        default: break
        }
        if let control = SchemaPatternParser.controls[scalar] { return ScalarClass(ranges: [control...control]) }
        guard SchemaPatternParser.syntax.contains(scalar) else {
            throw refusal("has \\\(scalar), which is not checked here")
        }
        return .one(scalar)
    }

    private mutating func parseHexadecimal(_ count: Int) throws(SchemaPatternError) -> Unicode.Scalar {
        var digits = ""
        for _ in 0..<count { digits.unicodeScalars.append(try take()) }
        guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number), !digits.hasPrefix("+") else {
            throw refusal("has an escape without \(count) hexadecimal digits")
        }
        return scalar
    }
}

extension ScalarClass {
    /// The only character; nil when there are others.
    fileprivate var single: UInt32? {
        guard !isInverted, ranges.count == 1, let range = ranges.first, range.count == 1 else { return nil }
        return range.lowerBound
    }
}
