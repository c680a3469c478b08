// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSimulator

extension PhoneSummary {
    /// The summary as lines of text.
    var text: String {
        let causes = SimulatedPhone.DropCause.allCases.compactMap { cause in
            account.dropped[cause].map { "\(cause.name) \($0.grouped)" }
        }
        let dropped = causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))"
        let pushes = [
            "\(account.effective.grouped) with an effect", "\(account.wasted.grouped) without an effect\(dropped)",
            "\(account.lost.grouped) lost", "\(account.waiting.grouped) waiting", "\(account.refused.grouped) refused",
            "\(account.toInvalidTokens.grouped) to invalid tokens",
        ]
        let percentiles = [50, 95, 100].map { staleness(percentile: $0).text }
        return """
            \(count.counted("phone")) with \(app)
            Pushes: \(account.pushes.grouped): \(pushes.joined(separator: ", "))
            Cards: \(account.cardsStarted.grouped) started, \(account.cardsRemoved.grouped) removed
            Reloads: \(account.widgetReloads.grouped) of widgets, \(account.controlReloads.grouped) of controls
            Duplicates: \(account.duplicates.grouped), for \(account.longestDuplication.text) at most
            Staleness: median \(percentiles[0]), 95th percentile \(percentiles[1]), longest \(percentiles[2]) \
            (with unreachable phones \(account.longestStaleness.text)); \
            \(account.staleSurfaces.counted("surface is", "surfaces are")) stale
            Stranded cards: \(account.strandedCards.grouped), for \(account.longestStranding.text) at most

            """
    }
}

extension Duration {
    /// The duration in seconds as text.
    fileprivate var text: String {
        let (seconds, attoseconds) = components
        return (Double(seconds) + Double(attoseconds) / 1e18).shortText + " s"
    }
}
