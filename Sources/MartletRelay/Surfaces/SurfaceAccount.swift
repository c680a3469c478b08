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
        /// The end of the Live Activity is being sent.
        case ending
    }

    let kind: SurfaceKind
    /// Whether broadcasts on a channel update the Live Activity.
    var usesChannel = false
    /// The revision that the phone shall show; nil for none.
    let desiredRevision: Int64?
    /// The revision that the phone is assumed to show, of which APNs accepted the push; nil if it is not known.
    var shownRevision: Int64?
    /// The time since which it is assumed to do so, and for an unconfirmed start that of its acceptance, in
    /// milliseconds since 1970.
    var since: Int64?
    var state: State
    /// The reason the phone does not show the desired revision; nil if it does, or will without another cause.
    var reason: ActivitySession.Absence?
}

extension SurfaceSessionState {
    /// Returns the accounts of the kinds that the surface has, or that may be on the phone.
    ///
    /// - Parameters:
    ///   - content: The content of the surface; nil if the installation shall not show it.
    ///   - revision: The revision of the surface.
    ///   - broadcast: The status of the newest broadcast to the channel of the Live Activity; nil if it is not known.
    /// - Returns: The accounts, in the order of ``LiveSurfaces/SurfaceKind``.
    func account(of content: SurfaceContent?, revision: Int64, broadcast: PushStatus? = nil) -> [SurfaceAccount] {
        let direct = Set((content?.directSnapshots ?? []).map(\.kind))
        return SurfaceKind.allCases.compactMap { kind in
            if kind == .liveActivity { return account(ofActivityIn: content, revision: revision, broadcast) }
            // A notification in place of a Live Activity has an account once it was sent.
            guard direct.contains(kind) || sent[kind.rawValue] != nil else { return nil }
            return account(of: kind, desired: direct.contains(kind) ? revision : nil)
        }
    }

    private func account(
        ofActivityIn content: SurfaceContent?,
        revision: Int64,
        _ broadcast: PushStatus?
    ) -> SurfaceAccount? {
        let desired = content?.snapshot(.liveActivity) == nil ? nil : revision
        let kind = SurfaceKind.liveActivity
        switch activity.assumed.phase {
        case .none:
            guard desired != nil else { return nil }
            return SurfaceAccount(kind: kind, desiredRevision: desired, state: .absent, reason: activity.absence)
        case .starting(let start, _):
            let usesChannel = start.channel != nil
            return SurfaceAccount(kind: kind, usesChannel: usesChannel, desiredRevision: desired, state: .sending)
        case .unconfirmed(let start):
            if let channel = start.channel, start.card != nil {
                return account(of: start, on: channel, desired: desired, broadcast)
            }
            return SurfaceAccount(
                kind: kind,
                usesChannel: start.channel != nil,
                desiredRevision: desired,
                since: start.at * 1_000,
                state: .unconfirmed,
                reason: activity.absence
            )
        case .live(let card): return account(of: card, desired: desired, card.request == nil ? nil : .sending)
        case .ending(let card, _): return account(of: card, desired: desired, .ending)
        }
    }

    /// Returns the account of a card on a channel, which shows its start or the newest broadcast.
    private func account(
        of start: AssumedActivity.Start,
        on channel: SurfaceChannel,
        desired: Int64?,
        _ status: PushStatus?
    ) -> SurfaceAccount {
        var account = SurfaceAccount(
            kind: .liveActivity,
            usesChannel: true,
            desiredRevision: desired,
            state: activity.desired == nil && activity.withdrawal != nil ? .ending : .outdated
        )
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
            (account.shownRevision, account.since) = (Int64(start.generation), start.at * 1_000)
        }
        guard let desired, account.shownRevision == desired else { return account }
        account.state = Int64(start.generation) == desired || channel.storesBroadcasts ? .current : .broadcast
        return account
    }

    /// Returns the account of a card: with a state, or without a push on its way.
    private func account(
        of card: AssumedActivity.Card,
        desired: Int64?,
        _ state: SurfaceAccount.State?
    ) -> SurfaceAccount {
        let shown = card.shown == 0 ? nil : Int64(card.shown)
        return SurfaceAccount(
            kind: .liveActivity,
            desiredRevision: desired,
            shownRevision: shown,
            since: shown == nil ? nil : card.shownAt * 1_000,
            state: state ?? (shown != nil && shown == desired ? .current : .outdated),
            reason: desired.map { Int64(card.refused) >= $0 } == true ? .refused : nil
        )
    }

    private func account(of kind: SurfaceKind, desired: Int64?) -> SurfaceAccount {
        let known = sent[kind.rawValue, default: SentSnapshot()]
        let isSending = pending.contains { $0.kind == kind && $0.request == nil }
        let isCurrent = known.revision >= desired ?? known.revision
        let isRefused = desired.map { known.refused >= $0 } ?? false
        let state: SurfaceAccount.State =
            if isSending {
                .sending
            } else if known.revision == 0 {
                .absent
            } else {
                isCurrent ? .current : .outdated
            }
        return SurfaceAccount(
            kind: kind,
            desiredRevision: desired,
            shownRevision: known.revision == 0 ? nil : known.revision,
            since: known.revision == 0 ? nil : known.acceptedAt,
            state: state,
            reason: isRefused ? known.absence ?? .refused : isCurrent ? nil : known.absence
        )
    }
}
