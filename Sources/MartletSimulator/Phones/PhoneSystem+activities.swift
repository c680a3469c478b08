// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The activities and their cards.
extension PhoneSystem {
    /// The maximum time for which an activity is active, in milliseconds: eight hours ("Displaying live data with Live
    /// Activities").
    private static let activeTime: Int64 = 8 * 3_600 * 1_000

    /// Whether the app may have another activity.
    var canStart: Bool { activities.count { !$0.hasEnded } < behavior.limits.activities }

    /// The numbers of the active activities whose surface has a newer one.
    var duplicates: [Int] {
        let active = activities.filter { !$0.hasEnded }
        let newest = Dictionary(active.map { ($0.surface, $0.number) }, uniquingKeysWith: max)
        return active.filter { newest[$0.surface] != $0.number }.map(\.number)
    }

    /// Starts an activity.
    ///
    /// - Parameters:
    ///   - surface: The identifier of the surface.
    ///   - state: The state.
    ///   - push: The push that starts it; nil for a start by the app.
    mutating func begin(_ surface: String, _ state: SimulatedDevice.Activity, by push: DeliveredPush?) {
        activityCount += 1
        let waitsForAllow = push != nil && behavior.tokens.waitForAllow && !hasConsent
        let delay = isInMemory ? behavior.tokens.delayWhileRunning : behavior.tokens.delayAfterLaunch
        activities.append(
            PhoneActivity(activityCount, state, of: surface, by: push, waitsForAllow: waitsForAllow, at: now)
        )
        account.cardsStarted += 1
        agenda.schedule(.expire(activityCount), at: now + PhoneSystem.activeTime)
        if !waitsForAllow { agenda.schedule(.issueToken(activityCount), at: now + delay.clampedMilliseconds) }
        runAppIfWoken()
    }

    /// Issues the update token of an activity, which the app reports if it observes the activity.
    mutating func issueToken(of number: Int) {
        guard let activity = activities.first(where: { $0.number == number && !$0.hasEnded }), activity.usesToken,
            tokens[.activity(number)] == nil
        else { return }
        issueToken(for: .activity(number))
        if isInMemory, activity.isObserved { runApp() }
    }

    /// Shows the newest content of an activity, now or as soon as the interval allows.
    mutating func render(_ number: Int) {
        guard let index = activities.firstIndex(where: { $0.number == number }) else { return }
        let interval = behavior.limits.renderInterval.clampedMilliseconds
        guard let due = activities[index].render(after: interval, at: now) else { return }
        agenda.schedule(.render(number), at: due)
    }

    /// Ends an activity, whose card disappears at a time.
    mutating func end(_ number: Int, _ cause: SimulatedPhone.Report.EndCause, removedAt removal: Int64) {
        guard let index = activities.firstIndex(where: { $0.number == number && !$0.hasEnded }) else { return }
        let isRefused = generator.decides(behavior.tokens.refusalOfInvalid)
        tokens.end(.activity(number), isRefused: isRefused, at: now)
        activities[index].hasEnded = true
        endings.append(
            SimulatedPhone.Report.Ending(
                id: activities[index].id,
                surface: activities[index].surface,
                cause: cause,
                endedAt: Date(millisecondsSince1970: phoneTime)
            )
        )
        guard removal > now else { return remove(number) }
        render(number)
        agenda.schedule(.remove(number), at: removal)
    }

    /// Ends all activities because of the system.
    ///
    /// - Parameter removesCards: Whether the cards of those that have ended before disappear, too.
    mutating func endAll(removesCards: Bool = true) {
        for activity in activities {
            if !activity.hasEnded {
                end(activity.number, .system, removedAt: now)
            } else if removesCards {
                remove(activity.number)
            }
        }
    }

    /// Removes a card.
    mutating func remove(_ number: Int) {
        guard let index = activities.firstIndex(where: { $0.number == number }) else { return }
        activities.remove(at: index)
        account.cardsRemoved += 1
    }
}
