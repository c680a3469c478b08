// SPDX-License-Identifier: Apache-2.0

/// Finds the valid name that a misspelled name was probably meant to be.
package enum NearestName {
    /// The length in bytes above which names are not compared.
    private static let lengthLimit = 40

    /// Returns the valid name with the fewest edits from a misspelled name, or one that it begins.
    ///
    /// Case, hyphens and underscores are ignored. At most a third of the letters may differ, and at most two.
    ///
    /// - Parameters:
    ///   - typed: The misspelled name.
    ///   - names: The valid names.
    /// - Returns: The nearest name; nil if none is near.
    package static func of(_ typed: String, among names: some Sequence<String>) -> String? {
        let letters = plain(typed)
        // A number has no likely correction.
        guard (2...lengthLimit).contains(letters.count), !typed.allSatisfy(\.isNumber) else { return nil }
        let limit = min(2, max(1, letters.count / 3))
        var nearest: (name: String, changes: Int)?
        for name in names {
            let candidate = plain(name)
            let changes = changes(from: letters, to: candidate)
            guard changes <= limit || letters.count > 2 && candidate.starts(with: letters) else { continue }
            if changes < nearest?.changes ?? .max { nearest = (name, changes) }
        }
        return nearest?.name
    }

    /// Returns a hint to append to an error; empty if no name is near.
    package static func hint(for typed: String, among names: some Sequence<String>) -> String {
        of(typed, among: names).map { "; did you mean \($0)?" } ?? ""
    }

    /// Removes the differences that are easily confused: case, hyphens and underscores.
    private static func plain(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// Returns the number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment
    /// distance).
    private static func changes(from left: [UInt8], to right: [UInt8]) -> Int {
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
