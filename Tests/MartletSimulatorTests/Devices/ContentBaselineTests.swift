// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// The content of a Live Activity that later content is compared with.
@Suite struct ContentBaselineTests {
    /// A name that counts how often it is hashed and compared.
    private struct CountedName: Hashable {
        final class Steps {
            var count = 0
        }

        let number: Int
        let steps: Steps

        static func == (left: CountedName, right: CountedName) -> Bool {
            left.steps.count += 1
            return left.number == right.number
        }

        func hash(into hasher: inout Hasher) {
            steps.count += 1
            hasher.combine(number)
        }
    }

    /// Pairs names with the same names in reverse order, and returns the number of times a name was hashed or compared.
    private static func steps(for count: Int) -> Int {
        let steps = CountedName.Steps()
        let names = (0..<count).map { CountedName(number: $0, steps: steps) }
        let pairs = names.paired(with: names.reversed(), by: \.self)
        #expect(pairs.count == count && pairs.allSatisfy { $0.element.number == $0.other?.number })
        return steps.count
    }

    @Test func `members are paired in linear work`() {
        // Linear work takes 16 times as many steps, quadratic work 256 times.
        let (few, many) = (Self.steps(for: 500), Self.steps(for: 8_000))
        #expect(few > 0 && many < few * 48, "\(few) steps for 500 names, \(many) for 8000")
    }

    @Test func `an element is paired with the first of its name`() {
        let members = [JSONValue.Member("a", 1), JSONValue.Member("b", 2)]
        let pairs = members.paired(with: [JSONValue.Member("b", 3), JSONValue.Member("b", 4)], by: \.name)
        #expect(pairs.map { $0.element } == members && pairs.map { $0.other?.value } == [nil, 3])
    }

    @Test func `values that later content lacks are stored with their push`() throws {
        let first = #"{"stage":"Cooking","driver":{"name":"Kim","seats":4},"note":null}"#
        let second = #"{"driver":{"name":"Kim","seats":null}}"#
        let earlier = ContentBaseline(try JSONReader.read(Array(first.utf8)), of: 7, after: nil)
        let baseline = ContentBaseline(try JSONReader.read(Array(second.utf8)), of: 8, after: earlier)
        #expect(baseline.earlier.map(\.path) == [["stage"], ["driver", "seats"]])
        #expect(baseline.earlier.map(\.value) == ["Cooking", 4] && baseline.earlier.allSatisfy { $0.number == 7 })
        let third = ContentBaseline(["stage": "Near"], of: 9, after: baseline)
        #expect(third.earlier.map(\.path) == [["driver"], ["driver", "seats"]])
    }
}
