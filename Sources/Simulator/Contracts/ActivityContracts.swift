internal import APNs

/// The contracts that are known, and which of them a push is held to: a struct without I/O.
///
/// Only a start names the type of its attributes. An update goes to a token of its own, so it is held to the only
/// contract of its topic where there is but one; among several it has to fit any, unless a start to the same token,
/// or ``remember(_:isOf:)``, has told which it is.
struct ActivityContracts: Sendable {
    /// Contracts that are kept.
    static let limit = 1_000
    /// Tokens whose type is remembered; the oldest is forgotten first.
    static let tokenLimit = 10_000

    /// Every contract, in the order of setting.
    private(set) var all: [ActivityContract] = []
    /// Types of attributes by token.
    private var types: [String: String] = [:]
    /// Tokens with a type in the order of their coming, from ``oldest`` on.
    private var tokens: [String] = []
    private var oldest = 0

    /// Makes a contract known, in place of an older one for the same topic and type.
    ///
    /// - Parameter contract: The contract.
    /// - Throws: ``ActivityContractError`` when there are ``limit`` others.
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

    /// Forgets a contract.
    ///
    /// - Parameters:
    ///   - attributesType: The type of its attributes.
    ///   - topic: Its topic.
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func remove(_ attributesType: String, topic: Topic) -> Bool {
        guard let index = index(attributesType, topic.ofLiveActivities) else { return false }
        all.remove(at: index)
        return true
    }

    private func index(_ attributesType: String, _ topic: Topic) -> Int? {
        all.firstIndex { $0.topic == topic && $0.attributesType == attributesType }
    }

    /// Notes what kind of activity a token belongs to.
    ///
    /// - Parameters:
    ///   - deviceToken: The token, in hexadecimal digits.
    ///   - attributesType: The type of the activity's attributes.
    mutating func remember(_ deviceToken: String, isOf attributesType: String) {
        let token = deviceToken.lowercased()
        guard types.updateValue(attributesType, forKey: token) == nil else { return }
        guard tokens.count >= ActivityContracts.tokenLimit else {
            tokens.append(token)
            return
        }
        types[tokens[oldest]] = nil
        tokens[oldest] = token
        oldest = (oldest + 1) % tokens.count
    }

    /// Notes what a push that was accepted tells of its token.
    ///
    /// - Parameter push: The push.
    mutating func note(_ push: ActivityPush) {
        guard push.event == .start, !push.deviceToken.isEmpty, let type = push.attributesType,
            index(type, push.topic) != nil
        else { return }
        remember(push.deviceToken, isOf: type)
    }

    /// What keeps the phone from using a push, as far as contracts are known.
    ///
    /// - Parameter push: The push.
    /// - Returns: The findings; none when the phone takes it, or no contract is known for its topic.
    func findings(for push: ActivityPush) -> [Lint.Finding] {
        let known = all.filter { $0.topic == push.topic }
        guard !known.isEmpty else { return [] }
        let type = push.attributesType ?? (push.event == .start ? nil : types[push.deviceToken])
        if let contract = known.first(where: { $0.attributesType == type }) { return contract.findings(for: push) }
        if push.event == .start { return type.map { [unknownType($0, known)] } ?? [] }
        return closest(known.map { $0.contentStateFindings(push) })
    }

    /// What the contract has to say that the push is closest to: with the fewest mistakes, and these the deepest.
    private func closest(_ candidates: [[Lint.Finding]]) -> [Lint.Finding] {
        func distance(_ findings: [Lint.Finding]) -> (Int, Int) {
            (findings.count, -(findings.map(\.place.depth).max() ?? 0))
        }
        return candidates.min { distance($0) < distance($1) } ?? []
    }

    private func unknownType(_ type: String, _ known: [ActivityContract]) -> Lint.Finding {
        let names = known.map(\.attributesType).joined(separator: ", ")
        return Lint.Finding(
            .contractAttributesTypeUnknown,
            .payload("/aps/attributes-type"),
            "no contract is known for \"\(type)\", only for \(names): the phone ignores types that the app lacks"
        )
    }
}

extension Lint.Place {
    /// Names in the pointer.
    fileprivate var depth: Int {
        switch self {
        case .header, .connection: 0
        case .payload(let pointer): pointer.utf8.count { $0 == UInt8(ascii: "/") }
        }
    }
}

/// Why a contract cannot be used.
public struct ActivityContractError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in a sentence without the final stop.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
