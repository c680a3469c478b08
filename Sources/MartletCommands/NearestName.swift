/// Finds the valid name that a misspelled name was probably meant to be.
enum NearestName {
    /// Returns the name with the fewest edits from the typed one, or nil if none is close enough.
    static func of(_ typed: String, among names: some Sequence<String>) -> String? {
        // A number has no likely correction.
        guard !typed.allSatisfy(\.isNumber) else { return nil }
        let limit = max(1, typed.count / 3)
        return names.map { (name: $0, changes: changes(from: typed, to: $0)) }
            .filter { $0.changes <= limit || $0.name.hasPrefix(typed) && typed.count > 2 }
            .min { $0.changes < $1.changes }?.name
    }

    /// Returns a hint to append to an error; empty if no name is close enough.
    static func hint(for typed: String, among names: some Sequence<String>) -> String {
        of(typed, among: names).map { "; did you mean \($0)?" } ?? ""
    }

    /// Returns the number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment
    /// distance).
    private static func changes(from left: String, to right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                let same = last[column] + (letter == other ? 0 : 1)
                var best = min(same, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
