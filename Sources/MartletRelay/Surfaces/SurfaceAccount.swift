// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletOutbox

/// The assumed state of one kind of a surface on one installation.
struct SurfaceAccount: Sendable, Hashable {
    /// The states of a kind of a surface on a phone; the raw values are those in JSON.
    enum State: String, Sendable, Hashable, CaseIterable {
        /// Nothing is on the phone.
        case absent
        /// A push waits in the outbox, or is being sent.
        case sending
        /// APNs accepted the start of the Live Activity, and the app has not reported its token.
        case unconfirmed
        /// APNs accepted the newest content.
        case current
        /// APNs accepted the broadcast of the newest content on a channel without storage: a phone that was offline
        /// does not show it.
        case broadcast
        /// The newest content was not sent yet.
        case outdated
        /// The end of the Live Activity is being sent, or APNs accepted it and the app has not reported it.
        case ending
    }

    let kind: SurfaceKind
    /// Whether broadcasts on a channel update the Live Activity.
    var usesChannel = false
    /// The revision that the phone shall show; nil for none, and for a notification in place of a Live Activity.
    var desiredRevision: Int64?
    /// The revision that the phone is assumed to show, of which APNs accepted the push; nil if it is not known.
    var shownRevision: Int64?
    /// The time since which it is assumed to do so, and for an unconfirmed start that of its acceptance, in
    /// milliseconds since 1970.
    var since: Int64?
    var state: State
    /// The reason the phone does not show the desired revision; nil if it does, or will without another cause.
    var reason: ActivitySession.Absence?
}

/// A kind that an installation shall show.
private struct DesiredKind {
    /// The revision of the surface.
    let revision: Int64
    /// The change with which the kind got its content.
    let change: ContentChange
    /// The text of the attributes of a Live Activity.
    var attributes: String?

    /// Returns whether a revision, 0 for none, has the content of the kind.
    func isShown(by revision: Int64) -> Bool { revision >= change.revision }

    /// Returns the reason a Live Activity does not show the kind as it is; nil for none.
    func reason(for attributes: String?) -> ActivitySession.Absence? {
        guard let attributes, attributes != self.attributes else { return nil }
        return .attributesFixed
    }
}

extension SurfaceSessionState {
    /// Returns the accounts of the kinds that the surface has, or that may be on the phone.
    ///
    /// - Parameters:
    ///   - content: The content of the surface; nil if the installation shall not show it.
    ///   - last: The last change of the surface.
    ///   - broadcast: The status of the newest broadcast to the channel of the Live Activity; nil if it is not known.
    /// - Returns: The accounts, in the order of ``LiveSurfaces/SurfaceKind``.
    func account(
        of content: SurfaceContent?,
        changedBy last: ContentChange,
        broadcast: PushStatus? = nil
    ) -> [SurfaceAccount] {
        var desired: [SurfaceKind: DesiredKind] = [:]
        if let content {
            let direct = content.directSnapshots.map(\.kind)
            let kinds = content.snapshot(.liveActivity) == nil ? direct : [.liveActivity] + direct
            for kind in kinds {
                let change = content.change(of: kind, until: last)
                desired[kind] = DesiredKind(revision: last.revision, change: change)
            }
            desired[.liveActivity]?.attributes = content.attributes
        }
        return SurfaceKind.allCases.compactMap { kind in
            if kind == .liveActivity {
                // A surface that cannot be read has no content, either, and nothing is withdrawn.
                let isWithdrawn = content == nil && activity.desired == nil
                return activityAccount(desired[kind], isWithdrawn: isWithdrawn, broadcast)
            }
            if let desired = desired[kind] { return account(of: kind, desired) }
            // A notification in place of a Live Activity has an account once it was sent.
            guard sent[kind.rawValue] != nil else { return nil }
            guard kind == .notification, let content else { return account(of: kind, nil) }
            return replacementAccount(content, last)
        }
    }

    private func activityAccount(
        _ desired: DesiredKind?,
        isWithdrawn: Bool,
        _ broadcast: PushStatus?
    ) -> SurfaceAccount? {
        var account = SurfaceAccount(kind: .liveActivity, desiredRevision: desired?.revision, state: .absent)
        switch activity.assumed.phase {
        case .none:
            guard desired == nil else {
                account.reason = activity.absence
                break
            }
            // The session is kept as long as a card may be on the phone.
            guard isWithdrawn, activity.lastTimestamp > 0 else { return nil }
            account.state = .ending
            if activity.assumed.endedCards.contains(where: \.isRefused) { account.reason = .refused }
        case .starting(let start, _):
            account.usesChannel = start.channel != nil
            account.state = .sending
        case .unconfirmed(let start):
            account.usesChannel = start.channel != nil
            if let channel = start.channel, start.card != nil {
                show(start, on: channel, desired, broadcast, in: &account)
            } else {
                account.state = .unconfirmed
                account.since = start.milliseconds
                account.reason = activity.absence ?? desired?.reason(for: start.attributes)
            }
        case .live(let card):
            show(card, desired, in: &account)
            if card.request != nil { account.state = .sending }
        case .ending(let card, _):
            show(card, desired, in: &account)
            account.state = .ending
        }
        return account
    }

    /// Adds a card on a channel, which shows its start or the newest broadcast.
    private func show(
        _ start: AssumedActivity.Start,
        on channel: SurfaceChannel,
        _ desired: DesiredKind?,
        _ status: PushStatus?,
        in account: inout SurfaceAccount
    ) {
        account.state = activity.desired == nil && activity.withdrawal != nil ? .ending : .outdated
        account.reason = desired?.reason(for: start.attributes)
        let last = activity.broadcast.flatMap { $0.channel == channel ? $0 : nil }
        if let last, last.update.generation != start.generation {
            switch status?.state {
            case .accepted?, .inFlight?: if desired != nil { account.state = .sending }
            case .ended(let outcome, let time)? where outcome.state == .delivered && !last.isEnd:
                (account.shownRevision, account.since) = (Int64(last.update.generation), time)
            case .ended(let outcome, _)?: if outcome.state == .refused { account.reason = .refused }
            case nil: break
            }
        } else if start.generation > 0 {
            (account.shownRevision, account.since) = (Int64(start.generation), start.milliseconds)
        }
        guard let desired, let shown = account.shownRevision, desired.isShown(by: shown) else { return }
        account.shownRevision = desired.revision
        let isStored = desired.isShown(by: Int64(start.generation)) || channel.storesBroadcasts
        account.state = isStored ? .current : .broadcast
    }

    /// Adds a card with a token.
    private func show(_ card: AssumedActivity.Card, _ desired: DesiredKind?, in account: inout SurfaceAccount) {
        account.state = .outdated
        account.reason = desired?.reason(for: card.attributes)
        if let desired, desired.isShown(by: Int64(card.refused)) { account.reason = .refused }
        guard card.shown > 0 else { return }
        (account.shownRevision, account.since) = (Int64(card.shown), card.shownAt)
        guard let desired, desired.isShown(by: Int64(card.shown)) else { return }
        account.state = .current
        account.shownRevision = desired.revision
    }

    /// Returns the account of the notification in place of the Live Activity, which nothing updates while the phone can
    /// show the Live Activity.
    private func replacementAccount(_ content: SurfaceContent, _ last: ContentChange) -> SurfaceAccount {
        switch activity.assumed.phase {
        case .none: break
        case .unconfirmed(let start) where start.channel == nil: break
        case .starting, .unconfirmed, .live, .ending: return account(of: .notification, nil)
        }
        let change = content.change(of: .notification, until: last)
        var account = account(of: .notification, DesiredKind(revision: last.revision, change: change))
        account.desiredRevision = nil
        guard account.state == .outdated, account.reason == nil else { return account }
        if activity.absence == .declined {
            account.reason = .declined
        } else if !content.isUrgent {
            account.reason = .notUrgent
        }
        return account
    }

    private func account(of kind: SurfaceKind, _ desired: DesiredKind?) -> SurfaceAccount {
        let known = sent[kind.rawValue, default: SentSnapshot()]
        let isSending = pending.contains { $0.kind == kind && $0.request == nil }
        let isCurrent = desired?.isShown(by: known.revision) ?? true
        let isRefused = desired?.isShown(by: known.refused) ?? false
        let state: SurfaceAccount.State =
            if isSending {
                .sending
            } else if known.revision == 0 {
                .absent
            } else {
                isCurrent ? .current : .outdated
            }
        let shown = isCurrent ? desired?.revision ?? known.revision : known.revision
        return SurfaceAccount(
            kind: kind,
            desiredRevision: desired?.revision,
            shownRevision: known.revision == 0 ? nil : shown,
            since: known.revision == 0 ? nil : known.acceptedAt,
            state: state,
            reason: isRefused ? known.absence ?? .refused : isCurrent ? nil : known.absence
        )
    }
}
