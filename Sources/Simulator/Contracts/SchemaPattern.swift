/// A regular expression without what needs backtracking: a text is gone through once, whatever it is.
///
/// Characters are Unicode scalars and classes are those of ECMA-262 with the flag `u`, which JSON Schema recommends.
struct SchemaPattern: Sendable, Hashable {
    /// Steps that repetitions may unfold to.
    static let stepLimit = 2_000

    /// One step of the machine that a pattern is.
    enum Step: Sendable, Hashable {
        case scalar(ScalarClass)
        /// Goes on at both places.
        case split(Int, Int)
        case jump(Int)
        case start
        case end
        case match
    }

    /// The pattern as it was written.
    let text: String
    private let steps: [Step]

    init(_ text: String) throws(SchemaPatternError) {
        var parser = SchemaPatternParser(text)
        var builder = StepBuilder()
        try builder.add(try parser.parse())
        try builder.append(.match)
        self.text = text
        steps = builder.steps
    }

    /// Checks that a match of this many bytes counts for.
    func cost(_ byteCount: Int) -> Int { byteCount * steps.count / 256 }

    /// Whether the pattern fits anywhere in the text.
    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var current = Places(count: steps.count)
        for position in 0...scalars.count {
            enter(0, &current, isStart: position == 0, isEnd: position == scalars.count)
            if current.hasMatch { return true }
            guard position < scalars.count else { break }
            var next = Places(count: steps.count)
            for place in current.list {
                guard case .scalar(let group) = steps[place], group.contains(scalars[position]) else { continue }
                enter(place + 1, &next, isStart: false, isEnd: position + 1 == scalars.count)
            }
            current = next
        }
        return false
    }

    /// Where the machine is, all places at once.
    private struct Places {
        var list: [Int] = []
        var isSeen: [Bool]
        var hasMatch = false

        init(count: Int) {
            isSeen = Array(repeating: false, count: count)
        }
    }

    /// Goes from a place to all that can be reached without reading a character.
    private func enter(_ place: Int, _ places: inout Places, isStart: Bool, isEnd: Bool) {
        var waiting = [place]
        while let place = waiting.popLast() {
            guard !places.isSeen[place] else { continue }
            places.isSeen[place] = true
            switch steps[place] {
            case .scalar: places.list.append(place)
            case .split(let first, let second): waiting += [second, first]
            case .jump(let target): waiting.append(target)
            case .start: if isStart { waiting.append(place + 1) }
            case .end: if isEnd { waiting.append(place + 1) }
            case .match: places.hasMatch = true
            }
        }
    }
}

/// Why a text is no pattern that can be checked.
struct SchemaPatternError: Error, CustomStringConvertible {
    /// The rest of a sentence about the pattern.
    let description: String
}

/// Some characters.
struct ScalarClass: Sendable, Hashable {
    var ranges: [ClosedRange<UInt32>]
    var isInverted = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        ranges.contains { $0.contains(scalar.value) } != isInverted
    }

    var inverted: ScalarClass { ScalarClass(ranges: ranges, isInverted: !isInverted) }

    static let digit = ScalarClass(ranges: [0x30...0x39])
    static let word = ScalarClass(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = ScalarClass(ranges: [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// What `.` stands for: all but line ends.
    static let any = ScalarClass(ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isInverted: true)

    static func one(_ scalar: Unicode.Scalar) -> ScalarClass { ScalarClass(ranges: [scalar.value...scalar.value]) }
}

/// Unfolds a pattern into steps.
private struct StepBuilder {
    private(set) var steps: [SchemaPattern.Step] = []

    mutating func append(_ step: SchemaPattern.Step) throws(SchemaPatternError) {
        guard steps.count < SchemaPattern.stepLimit else {
            throw SchemaPatternError(description: "is too large: its repetitions unfold to too many steps")
        }
        steps.append(step)
    }

    mutating func add(_ node: SchemaPatternNode) throws(SchemaPatternError) {
        switch node {
        case .scalar(let group): try append(.scalar(group))
        case .start: try append(.start)
        case .end: try append(.end)
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .choice(let nodes): try addChoice(nodes)
        case .repetition(let node, let minimum, let maximum):
            for _ in 0..<minimum {
                let count = steps.count
                try add(node)
                // What matches without reading anything does so however often.
                if steps.count == count { return }
            }
            guard let maximum else { return try addLoop(node) }
            for _ in minimum..<maximum { try addOptional(node) }
        }
    }

    private mutating func addChoice(_ nodes: [SchemaPatternNode]) throws(SchemaPatternError) {
        var exits: [Int] = []
        for (index, node) in nodes.enumerated() {
            guard index < nodes.count - 1 else {
                try add(node)
                break
            }
            let split = steps.count
            try append(.split(split + 1, split))
            try add(node)
            exits.append(steps.count)
            try append(.jump(0))
            steps[split] = .split(split + 1, steps.count)
        }
        for exit in exits { steps[exit] = .jump(steps.count) }
    }

    private mutating func addLoop(_ node: SchemaPatternNode) throws(SchemaPatternError) {
        let split = steps.count
        try append(.split(split + 1, split))
        try add(node)
        try append(.jump(split))
        steps[split] = .split(split + 1, steps.count)
    }

    private mutating func addOptional(_ node: SchemaPatternNode) throws(SchemaPatternError) {
        let split = steps.count
        try append(.split(split + 1, split))
        try add(node)
        steps[split] = .split(split + 1, steps.count)
    }
}
