// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The contracts of a simulator, and the choice of the contract that a push is checked against, without I/O.
///
/// Only a start names the type of its attributes. An update goes to another token. If its topic has one contract,
/// the update is checked against that. If the topic has several, the update must match any of them, unless a start to
/// the same token or ``remember(_:isOf:)`` has set the type.
struct ActivityContracts: Sendable {
    /// The maximum number of contracts.
    static let limit = 1_000
    /// The maximum number of tokens with a stored type; the one that was set least recently is removed first.
    static let tokenLimit = 10_000

    /// All contracts, in the order in which they were set.
    private(set) var all: [ActivityContract] = []
    /// The types of attributes by token.
    private var types = RecentValues<String, String>(capacity: tokenLimit)

    /// Sets a contract, replacing an existing one for the same topic and type.
    ///
    /// - Throws: ``ActivityContractError`` when there are already ``limit`` others.
    mutating func set(_ contract: ActivityContract) throws(ActivityContractError) {
        if let index = index(contract.attributesType, contract.topic) {
            all[index] = contract
            return
        }
        guard all.count < ActivityContracts.limit else {
            throw ActivityContractError("there are \(ActivityContracts.limit) contracts already: remove some first")
        }
        all.append(contract)
    }

    /// Removes a contract; returns whether it existed.
    @discardableResult
    mutating func remove(_ attributesType: String, topic: Topic) -> Bool {
        guard let index = index(attributesType, topic.ofLiveActivities) else { return false }
        all.remove(at: index)
        return true
    }

    private func index(_ attributesType: String, _ topic: Topic) -> Int? {
        all.firstIndex { $0.topic == topic && $0.attributesType == attributesType }
    }

    /// Stores the type of the activity that a token belongs to.
    mutating func remember(_ deviceToken: String, isOf attributesType: String) {
        types.updateValue(attributesType, forKey: deviceToken.lowercased())
    }

    /// Stores the type that an accepted push reveals about its token.
    mutating func record(_ push: ActivityPush) {
        guard push.event == .start, !push.deviceToken.isEmpty, let type = push.attributesType,
            index(type, push.topic) != nil
        else { return }
        remember(push.deviceToken, isOf: type)
    }

    /// Returns whether a contract is known for a topic without the suffix of Live Activities.
    func covers(_ topic: Topic) -> Bool { all.contains { $0.topic == topic } }

    /// Returns the reasons for which the phone cannot use a push, according to the contracts.
    func findings(for push: ActivityPush) -> [PushLint.Finding] {
        let known = all.filter { $0.topic == push.topic }
        guard !known.isEmpty else { return [] }
        let type = push.attributesType ?? (push.event == .start ? nil : types[push.deviceToken])
        if let contract = known.first(where: { $0.attributesType == type }) { return contract.findings(for: push) }
        if push.event == .start { return type.map { [unknownType($0, known)] } ?? [] }
        return closest(known.map { $0.contentStateFindings(push) })
    }

    /// Returns the findings of the closest contract: the one with the fewest errors, and of those the deepest.
    private func closest(_ candidates: [[PushLint.Finding]]) -> [PushLint.Finding] {
        func distance(_ findings: [PushLint.Finding]) -> (Int, Int) {
            (findings.count, -(findings.map(\.place.depth).max() ?? 0))
        }
        return candidates.min { distance($0) < distance($1) } ?? []
    }

    private func unknownType(_ type: String, _ known: [ActivityContract]) -> PushLint.Finding {
        let names = known.map(\.attributesType).joined(separator: ", ")
        let message =
            "no contract is known for \(ShownValue.quoted(type)), only for \(names): the phone ignores types that the"
            + " app lacks"
        return PushLint.Finding(.contractAttributesTypeUnknown, .payload("/aps/attributes-type"), message)
    }
}

extension PushLint.Place {
    /// The number of names in the pointer.
    fileprivate var depth: Int {
        switch self {
        case .header, .connection: 0
        case .payload(let pointer): pointer.utf8.count { $0 == UInt8(ascii: "/") }
        }
    }
}

/// The reason that a contract cannot be used.
public struct ActivityContractError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
