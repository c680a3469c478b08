/// Finds the name that a misspelled name was probably meant to be.
enum Spelling {
    /// The length above which names are not compared.
    private static let lengthLimit = 40

    /// Returns the name that a word was probably meant to be: equal except for case, hyphens and underscores, or at
    /// most two edits away.
    ///
    /// - Parameters:
    ///   - word: The misspelled word.
    ///   - words: The valid names.
    /// - Returns: The nearest name; nil if none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        let letters = plain(word)
        guard (3...lengthLimit).contains(letters.count) else { return nil }
        // Short words are similar by chance.
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

    /// Returns `: was "word" meant?` for the nearest name, or an empty string.
    static func hint(for word: String, among words: [String]) -> String {
        nearest(to: word, among: words).map { ": was \"\($0)\" meant?" } ?? ""
    }

    /// Removes the differences that are easily confused: case, hyphens and underscores.
    private static func plain(_ word: String) -> [UInt8] {
        word.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// Returns the number of letters to insert, delete, replace or swap with their neighbour to turn one word into the
    /// other.
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
