// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// Pushes counted by the values of the fields that narrow a search.
struct PushFacets {
    /// The maximum number of values of a field in ``json(deviceNames:)``.
    static let valueLimit = 20

    /// The number of pushes.
    private var total = 0
    private var types: [String: Int] = [:]
    /// The topics, because finding the app of a topic takes longer than counting it.
    private var topics: [String: Int] = [:]
    private var verdicts: [PushVerdict.Kind: Int] = [:]
    private var rules: [String: Int] = [:]
    private var devices: [String: Int] = [:]

    /// Counts the pushes that match a query.
    init(of pushes: [ReceivedPush], matching query: PushQuery) {
        let isLimited = query != .everything
        for push in pushes where !isLimited || query.matches(push) { add(push) }
    }

    private mutating func add(_ push: ReceivedPush) {
        total += 1
        if let type = push.headers.pushType { types[type, default: 0] += 1 }
        if let topic = push.app ?? push.headers.topic { topics[topic, default: 0] += 1 }
        verdicts[push.verdictKind, default: 0] += 1
        let marks = push.findingMarks
        for (index, mark) in marks.enumerated() where !marks[..<index].contains(where: { $0.rule == mark.rule }) {
            rules[mark.rule, default: 0] += 1
        }
        if !push.deviceToken.isEmpty { devices[push.deviceToken, default: 0] += 1 }
    }

    /// Returns the counts as the HTTP interface returns them: of each field the number of its values, and the most
    /// frequent ones.
    ///
    /// - Parameter names: The nicknames of devices, by their tokens in lower case.
    /// - Returns: The counts.
    func json(deviceNames names: [String: String]) -> JSONValue {
        let apps = Dictionary(topics.map { (Topic($0).bundleIdentifier, $1) }, uniquingKeysWith: +)
        let results = Dictionary(uniqueKeysWithValues: verdicts.map { ($0.rawValue, $1) })
        let fields: [(PushQuery.Field, [String: Int])] = [
            (.type, types), (.app, apps), (.verdict, results), (.rule, rules), (.device, devices),
        ]
        let members = fields.map { field, counts in
            let values = PushFacets.mostFrequent(counts).map { value, count in
                JSONValue.members([
                    "value": .string(value),
                    "name": field == .device ? names[value.lowercased()].map(JSONValue.string) : nil,
                    "count": .integer(count),
                ])
            }
            return JSONValue.Member(field.rawValue, ["total": .integer(counts.count), "values": .array(values)])
        }
        return ["total": .integer(total), "fields": .object(members)]
    }

    /// Returns the most frequent values; those with equal counts in the order of their texts.
    private static func mostFrequent(_ counts: [String: Int]) -> [(value: String, count: Int)] {
        var found: [(value: String, count: Int)] = []
        // Sorting all values would take longer than counting them when each push has its own device.
        for (value, count) in counts {
            let index = found.firstIndex { count == $0.count ? value < $0.value : count > $0.count } ?? found.count
            guard index < valueLimit else { continue }
            found.insert((value, count), at: index)
            if found.count > valueLimit { found.removeLast() }
        }
        return found
    }
}
