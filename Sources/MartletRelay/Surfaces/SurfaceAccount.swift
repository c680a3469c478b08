// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces

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
        /// The newest content was not sent yet.
        case outdated
        /// The end of the Live Activity is being sent.
        case ending
    }

    let kind: SurfaceKind
    /// The revision that the phone shall show; nil for none.
    let desiredRevision: Int64?
    /// The revision that the phone is assumed to show, of which APNs accepted the push; nil if it is not known.
    var shownRevision: Int64?
    /// The time since which it is assumed to do so, and for an unconfirmed start that of its acceptance, in
    /// milliseconds since 1970.
    var since: Int64?
    let state: State
    /// The reason the phone does not show the desired revision; nil if it does, or will without another cause.
    var reason: ActivitySession.Absence?
}

extension SurfaceSessionState {
    /// Returns the accounts of the kinds that the surface has, or that may be on the phone.
    ///
    /// - Parameters:
    ///   - content: The content of the surface; nil if the installation shall not show it.
    ///   - revision: The revision of the surface.
    /// - Returns: The accounts, in the order of ``LiveSurfaces/SurfaceKind``.
    func account(of content: SurfaceContent?, revision: Int64) -> [SurfaceAccount] {
        let direct = Set((content?.directSnapshots ?? []).map(\.kind))
        return SurfaceKind.allCases.compactMap { kind in
            if kind == .liveActivity { return account(ofActivityIn: content, revision: revision) }
            // A notification in place of a Live Activity has an account once it was sent.
            guard direct.contains(kind) || sent[kind.rawValue] != nil else { return nil }
            return account(of: kind, desired: direct.contains(kind) ? revision : nil)
        }
    }

    private func account(ofActivityIn content: SurfaceContent?, revision: Int64) -> SurfaceAccount? {
        let desired = content?.snapshot(.liveActivity) == nil ? nil : revision
        let kind = SurfaceKind.liveActivity
        switch activity.assumed.phase {
        case .none:
            guard desired != nil else { return nil }
            return SurfaceAccount(kind: kind, desiredRevision: desired, state: .absent, reason: activity.absence)
        case .starting: return SurfaceAccount(kind: kind, desiredRevision: desired, state: .sending)
        case .unconfirmed(let start):
            return SurfaceAccount(
                kind: kind,
                desiredRevision: desired,
                since: start.at * 1_000,
                state: .unconfirmed,
                reason: activity.absence
            )
        case .live(let card): return account(of: card, desired: desired, card.request == nil ? nil : .sending)
        case .ending(let card, _): return account(of: card, desired: desired, .ending)
        }
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
