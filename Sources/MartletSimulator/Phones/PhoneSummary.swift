// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The result of all pushes to simulated phones, and of the content that they have shown.
package struct PhoneSummary: Sendable, Hashable {
    /// The bundle identifier of the app.
    package let app: Topic
    /// The number of phones.
    package let count: Int
    /// The accounts of all phones: the sums of their numbers, and the longest durations.
    package private(set) var account = SimulatedPhone.Account()
    /// The phones' longest times of staleness while they were reachable, shortest first.
    private let durations: [Duration]

    /// Creates the summary of phones.
    init(_ population: PhonePopulation) {
        app = population.app.topic
        count = population.phones.count
        durations = population.phones.map(\.phone.account.longestReachableStaleness).sorted()
        for phone in population.phones { account.add(phone.phone.account) }
    }

    /// Returns the longest staleness of a phone, while it was reachable, that a share of the phones did not exceed.
    ///
    /// - Parameter percentage: The share, from 0 to 100.
    /// - Returns: The duration.
    package func staleness(percentile percentage: Int) -> Duration {
        guard !durations.isEmpty else { return .zero }
        let index = (durations.count * min(max(percentage, 0), 100) + 99) / 100 - 1
        return durations[max(0, index)]
    }

    /// The summary as the HTTP interface shows it; durations are in seconds.
    package var json: JSONValue {
        [
            "total": .integer(count), "app": .string(app.rawValue), "account": account.json,
            "staleness": [
                "median": staleness(percentile: 50).jsonSeconds, "percentile-95": staleness(percentile: 95).jsonSeconds,
                "longest": staleness(percentile: 100).jsonSeconds,
            ],
        ]
    }
}

extension SimulatedPhone.Account {
    /// The account as the HTTP interface shows it; durations are in seconds.
    package var json: JSONValue {
        let causes = SimulatedPhone.DropCause.allCases.compactMap { cause in
            dropped[cause].map { JSONValue.Member(cause.name, .integer($0)) }
        }
        return [
            "pushes": .integer(pushes), "effective": .integer(effective), "wasted": .integer(wasted),
            "dropped": .object(causes), "lost": .integer(lost), "waiting": .integer(waiting),
            "refused": .integer(refused), "to-invalid-tokens": .integer(toInvalidTokens),
            "cards-started": .integer(cardsStarted), "cards-removed": .integer(cardsRemoved),
            "duplicates": .integer(duplicates), "longest-duplication": longestDuplication.jsonSeconds,
            "stale-surfaces": .integer(staleSurfaces), "longest-staleness": longestStaleness.jsonSeconds,
            "longest-reachable-staleness": longestReachableStaleness.jsonSeconds,
            "stranded-cards": .integer(strandedCards), "longest-stranding": longestStranding.jsonSeconds,
            "widget-reloads": .integer(widgetReloads), "control-reloads": .integer(controlReloads),
        ]
    }
}

extension SimulatedPhone.DropCause {
    /// The name of the cause in JSON and in the terminal.
    package var name: String {
        switch self {
        case .malformed: "malformed"
        case .wrongToken: "wrong-token"
        case .tokenEnded: "token-ended"
        case .timestamp: "timestamp"
        case .budget: "budget"
        case .activityLimit: "activity-limit"
        case .notAllowed: "not-allowed"
        case .notWoken: "not-woken"
        }
    }
}

extension Duration {
    /// The duration in seconds as JSON, to the millisecond.
    fileprivate var jsonSeconds: JSONValue { (Double(clampedMilliseconds) / 1_000).jsonValue }
}
