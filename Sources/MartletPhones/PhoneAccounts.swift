// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSimulator

extension SimulatedPhone {
    /// The titles of the notifications on the screen, newest last.
    var notificationTitles: [String] { notifications.compactMap { $0["aps"]?["alert"]?["title"]?.stringValue } }
}

extension SimulatedPhone.Card {
    /// The surface and the headline.
    var json: JSONValue {
        .members(["surface": .string(surface), "headline": content["headline"]?.stringValue.map { .string($0) }])
    }
}

extension SimulatedPhone.Account {
    /// The numbers of pushes and cards, and durations in milliseconds.
    var json: JSONValue {
        [
            "pushes": .integer(Int64(pushes)), "effective": .integer(Int64(effective)),
            "wasted": .integer(Int64(wasted)), "lost": .integer(Int64(lost)),
            "to-invalid-tokens": .integer(Int64(toInvalidTokens)), "refused": .integer(Int64(refused)),
            "cards-started": .integer(Int64(cardsStarted)), "duplicates": .integer(Int64(duplicates)),
            "stranded-cards": .integer(Int64(strandedCards)),
            "longest-stranding": .integer(longestStranding.wholeMilliseconds),
            "longest-staleness": .integer(longestReachableStaleness.wholeMilliseconds),
        ]
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
