/// Guesses what somebody meant to write.
enum Spelling {
    /// Words longer than this are not compared letter by letter.
    private static let lengthLimit = 40

    /// The word that this one was probably meant to be: the same but for case, hyphens and underscores, or with two
    /// slips at most.
    ///
    /// - Parameters:
    ///   - word: What was written.
    ///   - words: What could have been meant.
    /// - Returns: The nearest; nil when none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        let letters = plain(word)
        guard (3...lengthLimit).contains(letters.count) else { return nil }
        // Short words are near each other by chance.
        var least = letters.count < 5 ? 2 : 3
        var nearest: String?
        for candidate in words {
            let distance = distance(letters, plain(candidate))
            guard distance < least else { continue }
            least = distance
            nearest = candidate
        }
        return nearest
    }

    /// ": was "word" meant?" for the nearest word, or nothing.
    static func hint(for word: String, among words: [String]) -> String {
        nearest(to: word, among: words).map { ": was \"\($0)\" meant?" } ?? ""
    }

    /// A word without what people mix up: case, hyphens and underscores.
    private static func plain(_ word: String) -> [UInt8] {
        word.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// How many letters have to be added, left out, changed or swapped with their neighbour to make one of the other.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        guard abs(one.count - other.count) <= 2 else { return .max }
        var before: [Int] = []
        var last = Array(0...other.count)
        for row in 1...one.count {
            var current = [row]
            for column in 0..<other.count {
                let isSame = one[row - 1] == other[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 1, column > 0, one[row - 1] == other[column - 1], one[row - 2] == other[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            (before, last) = (last, current)
        }
        return last[other.count]
    }
}
