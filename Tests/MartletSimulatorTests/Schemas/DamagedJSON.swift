// SPDX-License-Identifier: Apache-2.0

import MartletCore

/// Breaks JSON here and there, the same way for the same seed.
struct DamagedJSON {
    private static let junk: [JSONValue] = [
        .null, true, false, 0, -1, 1, 300, "", "x", "1", "2026-05-12T18:31:00Z", [], [:], [1, "x"], ["id": "x"],
        .number(JSONNumber(9_007_199_254_740_992)),
    ]
    private static let fractions = [0.5, 1.5, -0.25, 1e21, 2.5e-7]

    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
    }

    /// The value with one thing changed, somewhere.
    mutating func damage(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(var members) where !members.isEmpty && Int.random(in: 0..<6, using: &random) > 0:
            let index = Int.random(in: members.indices, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: members.remove(at: index)
            case 1: members[index].name += "x"
            case 2: members.append(JSONValue.Member("another", junk()))
            default: members[index].value = damage(members[index].value)
            }
            return .object(members)
        case .array(var elements) where !elements.isEmpty && Int.random(in: 0..<6, using: &random) > 0:
            let index = Int.random(in: elements.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: elements.remove(at: index)
            case 1: elements.append(elements[index])
            case 2: elements.insert(junk(), at: index)
            default: elements[index] = damage(elements[index])
            }
            return .array(elements)
        default: return junk()
        }
    }

    private mutating func junk() -> JSONValue {
        if Bool.random(using: &random), let fraction = Self.fractions.randomElement(using: &random),
            let number = JSONNumber(fraction)
        {
            return .number(number)
        }
        return Self.junk.randomElement(using: &random) ?? .null
    }
}
