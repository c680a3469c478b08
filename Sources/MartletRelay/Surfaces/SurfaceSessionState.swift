// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// The state of one surface on one installation: the pushes that were sent, and the assumed state of the phone.
///
/// A step compares the content of the surface with everything that the app has reported so far, rather than with single
/// events, so that a step without news sends nothing, and a step that was lost is made up for by the next.
struct SurfaceSessionState: Sendable, Hashable {
    /// A push whose result is not known yet.
    struct PendingPush: Sendable, Hashable {
        let id: APNsID
        let kind: SurfaceKind
        let revision: Int64
        /// The token; for a Live Activity it is that of the request, and nil for a broadcast.
        let token: DeviceToken?
        /// The channel of a broadcast; nil for another push.
        let channel: ChannelID?
        /// The number of the request of ``activity``; nil for other kinds.
        let request: Int?
        /// The time of the change with which the kind got the content that the push shows first, in milliseconds since
        /// 1970; nil for another push, and for a phone that has reported something since the change.
        let changedAt: Int64?
        /// Whether the push was asked to be cancelled before it is sent.
        var isCancelled = false
    }

    /// The pushes that were sent of a kind that is not a Live Activity.
    struct SentSnapshot: Sendable, Hashable {
        /// The newest revision that APNs accepted, and the time of that in milliseconds since 1970; 0 for none.
        var revision: Int64 = 0
        var acceptedAt: Int64 = 0
        /// The newest revision that is not sent again, because APNs or the outbox refused it.
        var refused: Int64 = 0
        /// The reason the newest revision was not sent.
        var absence: ActivitySession.Absence?
    }

    /// A snapshot with which a Live Activity can be ended after its surface was withdrawn.
    struct StoredSnapshot: Sendable, Hashable {
        let revision: Int64
        let json: String
    }

    /// The time for which nothing is sent after a push was not sent although it was not asked to be cancelled, in
    /// milliseconds: the outbox does not store a push to a token that it knows to be unregistered.
    private static let pause: Int64 = 15_000
    /// The time after which a step follows whose actions were not possible, in milliseconds.
    private static let retryInterval: Int64 = 60_000
    /// The time after which a step follows although no push has a result that anything depends on, in milliseconds.
    private static let resultInterval: Int64 = 86_400_000

    private(set) var activity = ActivitySession()
    /// The pushes that were sent of the other kinds, by their raw values.
    private(set) var sent: [String: SentSnapshot] = [:]
    private(set) var pending: [PendingPush] = []
    /// The last snapshot of the Live Activity that may be on the phone.
    private(set) var lastSnapshot: StoredSnapshot?
    /// The tokens of the other kinds that APNs reported as unregistered, with the times of that, while the installation
    /// has them.
    private(set) var unregistered: [AssumedActivity.ReportedToken] = []
    /// The time before which nothing is sent, in milliseconds since 1970.
    private(set) var pausedUntil: Int64 = 0

    // MARK: Steps

    /// Takes the next step.
    ///
    /// - Parameters:
    ///   - content: The content of the surface; nil if the installation shall not show it.
    ///   - revision: The revision of the surface.
    ///   - changedAt: The time of the change to this revision in milliseconds since 1970.
    ///   - isWithdrawn: Whether the surface was withdrawn, so that no phone shall show it.
    ///   - surface: The identifier of the surface.
    ///   - installation: The installation with everything that its app has reported.
    ///   - results: The results of earlier pushes since the last step.
    ///   - now: The time in milliseconds since 1970.
    ///   - budget: The starts and urgent updates of Live Activities that the installation may still have.
    ///   - sent: The known broadcasts of the surface.
    ///   - ids: Returns an identifier that no push has, or that of a broadcast.
    /// - Returns: The pushes to send and to cancel, and the time of the next step.
    mutating func step(
        _ content: SurfaceContent?,
        revision: Int64,
        changedAt: Int64,
        isWithdrawn: Bool,
        of surface: String,
        on installation: Installation,
        results: [SessionResult],
        at now: Int64,
        within budget: inout ActivityBudget,
        after sent: SentBroadcasts = SentBroadcasts(),
        ids: (ActivitySession.Broadcast?) -> APNsID
    ) -> SurfacePlan {
        var step = Step(
            surface: surface,
            content: content,
            revision: revision,
            changedAt: changedAt,
            installation: installation,
            time: now / 1_000
        )
        let report = AssumedActivity.Report(of: surface, attributesType: content?.attributesType, in: installation)
        activity.record(report, at: step.time)
        record(results)
        // The app may have reported a card before the answer to its start was known.
        if !results.isEmpty { activity.record(report, at: step.time) }
        unregistered.removeAll { known in !installation.tokens.values.contains { $0.token == known.token } }
        let change = step.change(of: .liveActivity)
        let desired = ActivitySession.Desired(
            generation: Int(clamping: change.revision),
            isUrgent: content?.isUrgent ?? false,
            changedAt: change.changedAt / 1_000,
            channel: content?.channel.flatMap { $0.canBeJoined(by: installation) ? $0 : nil },
            attributes: content?.attributes,
            notification: Int(clamping: step.change(of: .notification).revision)
        )
        if content?.snapshot(.liveActivity) != nil {
            activity.desire(desired)
        } else {
            activity.withdraw(isWithdrawn || content != nil ? desired : nil)
        }
        // A clock that was set back must not prolong the pause.
        pausedUntil = min(pausedUntil, now + Self.pause)
        if now >= pausedUntil {
            let actions = activity.actions(at: step.time, within: &budget, after: sent)
            for action in actions { perform(action, in: &step, ids) }
            sendSnapshots(in: &step, ids)
        }
        storeSnapshot(of: step)
        finish(&step, at: now)
        return step.plan
    }

    /// The plan of a step, and what it depends on.
    private struct Step {
        let surface: String
        let content: SurfaceContent?
        let revision: Int64
        let changedAt: Int64
        let installation: Installation
        /// The time in seconds since 1970.
        let time: Int64
        var plan = SurfacePlan()

        /// Returns the change with which a kind got its content.
        func change(of kind: SurfaceKind) -> ContentChange {
            let last = ContentChange(revision: revision, changedAt: changedAt)
            return content?.change(of: kind, until: last) ?? last
        }

        /// Returns a token; nil if the app has not reported one since APNs reported it as unregistered.
        func token(
            _ slot: Installation.TokenSlot,
            _ unregistered: [AssumedActivity.ReportedToken]
        ) -> DeviceToken? {
            guard let known = installation.tokens[slot] else { return nil }
            let token = AssumedActivity.ReportedToken(known)
            return unregistered.contains { token.isUnregistered($0) } ? nil : token.token
        }
    }

    /// Records the results of earlier pushes, without a decision.
    mutating func record(_ results: [SessionResult]) {
        for result in results { record(result) }
    }

    /// Returns the results of broadcasts.
    ///
    /// - Parameter results: The results of earlier pushes, which are not recorded yet.
    /// - Returns: Those of broadcasts.
    func broadcastResults(in results: [SessionResult]) -> [BroadcastResult] {
        results.compactMap { result in
            let channel = pending.first { $0.id == result.id }?.channel
            return channel.map { BroadcastResult(channel: $0, result: result) }
        }
    }

    private mutating func record(_ result: SessionResult) {
        guard let index = pending.firstIndex(where: { $0.id == result.id }) else { return }
        let push = pending.remove(at: index)
        let end = SurfacePushResult(result)
        // The outbox does not store one that exceeds the limit of alerts, and would not store it again.
        let isLeftOut = push.kind == .notification && result.state == .cancelled && !push.isCancelled
        // A broadcast that the outbox does not store was sent by another session.
        let isRepeated = push.token != nil && !push.isCancelled && !isLeftOut
        if end == .notSent, isRepeated { pausedUntil = result.endedAt + Self.pause }
        if let request = push.request {
            activity.record(end, of: request, at: result.endedAt)
            return
        }
        var known = sent[push.kind.rawValue, default: SentSnapshot()]
        switch end {
        case .accepted:
            known.revision = max(known.revision, push.revision)
            known.acceptedAt = result.endedAt
        case .refused: known.refused = max(known.refused, push.revision)
        case .unregistered:
            guard let token = push.token else { return }
            unregistered.removeAll { $0.token == token }
            unregistered.append(AssumedActivity.ReportedToken(token: token, reportedAt: result.endedAt / 1_000))
        case .notSent:
            if isLeftOut {
                known.refused = max(known.refused, push.revision)
                known.absence = .notSent
            }
        }
        sent[push.kind.rawValue] = known
    }

    /// Stores the snapshot of the Live Activity of each revision that may be on the phone.
    ///
    /// It is kept after the end of a card, because the app may start another one before the session has finished.
    private mutating func storeSnapshot(of step: Step) {
        guard activity.goneAt == nil, lastSnapshot?.revision != step.revision,
            let snapshot = step.content?.snapshot(.liveActivity)
        else { return }
        let json = String(decoding: snapshot.json.encoded(), as: UTF8.self)
        lastSnapshot = StoredSnapshot(revision: step.revision, json: json)
    }

    /// Sets the time of the next step, and whether there is one.
    private func finish(_ step: inout Step, at now: Int64) {
        if now < pausedUntil {
            step.plan.dueAt = pausedUntil
        } else if pending.contains(where: { mustWait(for: $0, in: step) }) {
            // Any result makes the step due.
            step.plan.dueAt = nil
        } else if step.content == nil, let time = activity.goneAt {
            step.plan.isFinished = now / 1_000 >= time
            step.plan.dueAt = step.plan.isFinished ? nil : time * 1_000
        } else if let time = activity.nextTime(after: now / 1_000) {
            // The step is due already if its actions were not possible, as without a start in the budget.
            step.plan.dueAt = time * 1_000 > now ? time * 1_000 : now + Self.retryInterval
        } else if !pending.isEmpty, pending.allSatisfy({ $0.revision >= step.change(of: $0.kind).revision }) {
            step.plan.dueAt = now + Self.resultInterval
        }
    }

    /// Returns whether the acceptance of a push decides about the Live Activity, or about the end of the session.
    private func mustWait(for push: PendingPush, in step: Step) -> Bool {
        // Nothing depends on the acceptance of a broadcast, whose result only one of many sessions gets.
        guard push.token != nil else { return false }
        if let request = push.request { return !activity.isUpdate(request) }
        return step.content == nil
    }

    // MARK: Live Activities

    private mutating func perform(
        _ action: ActivitySession.Action,
        in step: inout Step,
        _ ids: (ActivitySession.Broadcast?) -> APNsID
    ) {
        switch action {
        case .start(let request, let token, _, let timestamp, let channel):
            sendCard(.start(timestamp: timestamp, channel: channel), to: .device(token), request, in: &step, ids(nil))
        case .update(let request, let token, let update):
            sendCard(.update(update), to: .device(token), request, in: &step, ids(nil))
        case .end(let request, let token, let timestamp):
            sendCard(.end(timestamp: timestamp), to: .device(token), request, in: &step, ids(nil))
        case .broadcast(let request, let broadcast):
            let channel = PushRequest.Destination.channel(broadcast.channel.id)
            sendCard(.broadcast(broadcast), to: channel, request, in: &step, ids(broadcast))
        case .alert:
            guard let snapshot = step.content?.notification,
                step.change(of: .notification).revision > sent[snapshot.kind.rawValue]?.revision ?? 0
            else { return }
            cancel(in: &step) { $0.kind == .notification }
            sendSnapshot(snapshot, in: &step, ids(nil))
        case .cancel(let request): cancel(in: &step) { $0.request == request }
        }
    }

    /// Sends a push of the Live Activity.
    private mutating func sendCard(
        _ content: SurfacePlan.Send.Content,
        to destination: PushRequest.Destination,
        _ request: Int,
        in step: inout Step,
        _ id: APNsID
    ) {
        // Without a surface it is an end, also of a card that was started before the session.
        let snapshot = step.content?.snapshot(.liveActivity) ?? storedSnapshot ?? .removal(of: step.surface)
        send(content, snapshot, to: destination, request, in: &step, id)
    }

    /// The last snapshot of the Live Activity.
    private var storedSnapshot: SurfaceSnapshot? {
        lastSnapshot.flatMap { try? SurfaceSnapshot(parsing: Array($0.json.utf8)) }
    }

    private mutating func send(
        _ content: SurfacePlan.Send.Content,
        _ snapshot: SurfaceSnapshot,
        to destination: PushRequest.Destination,
        _ request: Int?,
        in step: inout Step,
        _ id: APNsID
    ) {
        step.plan.sends.append(SurfacePlan.Send(id: id, destination: destination, content: content, snapshot: snapshot))
        let changedAt = step.change(of: snapshot.kind).changedAt
        let isMeasured = showsChange(content) && step.installation.changedAt <= changedAt
        pending.append(
            PendingPush(
                id: id,
                kind: snapshot.kind,
                revision: step.revision,
                token: destination.token,
                channel: destination.channel,
                request: request,
                changedAt: isMeasured ? changedAt : nil
            )
        )
    }

    /// Returns whether a push shows another content than the phone is assumed to show.
    private func showsChange(_ content: SurfacePlan.Send.Content) -> Bool {
        switch content {
        case .start, .end: return false
        case .update(let update):
            guard case .live(let card) = activity.assumed.phase else { return false }
            return card.shown < update.generation
        case .broadcast(let broadcast): return broadcast.age == 0 && !broadcast.isEnd
        case .notification, .background, .widgets, .control: return true
        }
    }

    /// Cancels pushes that meet a condition.
    private mutating func cancel(in step: inout Step, where isObsolete: (PendingPush) -> Bool) {
        for index in pending.indices where !pending[index].isCancelled && isObsolete(pending[index]) {
            pending[index].isCancelled = true
            step.plan.cancelled.append(pending[index].id)
        }
    }

    // MARK: Other kinds

    /// Sends the snapshots that are not those of the Live Activity: each content once, with one push on its way.
    private mutating func sendSnapshots(in step: inout Step, _ ids: (ActivitySession.Broadcast?) -> APNsID) {
        let snapshots = step.content?.directSnapshots ?? []
        let isWithdrawn = step.content == nil
        var revisions: [SurfaceKind: Int64] = [:]
        for snapshot in snapshots { revisions[snapshot.kind] = step.change(of: snapshot.kind).revision }
        cancel(in: &step) { push in
            push.request == nil && (isWithdrawn || push.revision < revisions[push.kind] ?? 0)
        }
        for snapshot in snapshots {
            let revision = revisions[snapshot.kind] ?? 0
            let known = sent[snapshot.kind.rawValue, default: SentSnapshot()]
            let isPending = pending.contains { $0.kind == snapshot.kind && $0.request == nil }
            guard revision > max(known.revision, known.refused), !isPending else { continue }
            sendSnapshot(snapshot, in: &step, ids(nil))
        }
    }

    /// Sends a snapshot: reloads the widgets or the control that show it if their token is known, otherwise sends it to
    /// the device token.
    private mutating func sendSnapshot(_ snapshot: SurfaceSnapshot, in step: inout Step, _ id: APNsID) {
        guard snapshot.kind != .notification || step.installation.permissions[.alerts] ?? true else {
            sent[snapshot.kind.rawValue, default: SentSnapshot()].absence = .alertsNotAllowed
            return
        }
        guard let (content, token) = push(of: snapshot, in: step) else {
            sent[snapshot.kind.rawValue, default: SentSnapshot()].absence = .noDeviceToken
            return
        }
        sent[snapshot.kind.rawValue, default: SentSnapshot()].absence = nil
        send(content, snapshot, to: .device(token), nil, in: &step, id)
    }

    /// Returns the push of a snapshot, and its token; nil without a token.
    private func push(of snapshot: SurfaceSnapshot, in step: Step) -> (SurfacePlan.Send.Content, DeviceToken)? {
        switch snapshot.kind {
        case .widget:
            if let token = step.token(Installation.TokenSlot(.widgets), unregistered) { return (.widgets, token) }
        case .control:
            let slot = step.content?.control.map { Installation.TokenSlot(.control, $0) }
            if let slot, let token = step.token(slot, unregistered) { return (.control, token) }
        case .liveActivity, .lockAccessory, .standBy, .notification: break
        }
        guard let token = step.token(Installation.TokenSlot(.device), unregistered) else { return nil }
        return (snapshot.kind == .notification ? .notification : .background, token)
    }
}

extension PushRequest.Destination {
    /// The token; nil for a channel.
    fileprivate var token: DeviceToken? { if case .device(let token) = self { token } else { nil } }
    /// The channel; nil for a token.
    fileprivate var channel: ChannelID? { if case .channel(let channel) = self { channel } else { nil } }
}
