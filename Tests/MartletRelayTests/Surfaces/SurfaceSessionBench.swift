// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// A session with the installation, the clock, and what was planned last.
struct SurfaceSessionBench {
    var state = SurfaceSessionState()
    var stored: ReportedInstallation
    var budget: ActivityBudget
    var now: Int64 = 1_800_000_000
    var revision: Int64 = 0
    var changedAt: Int64 = 0
    var content: SurfaceContent?
    /// Whether the surface is withdrawn without content; otherwise only the phone leaves its audience.
    var isWithdrawn = true
    /// The broadcasts that the relay knows of.
    var sent = SentBroadcasts()
    var plan = SurfacePlan()
    private var count: UInt64 = 0

    init(systemVersion: String = "26.1") {
        stored = ReportedInstallation(at: now, systemVersion: systemVersion)
        budget = ActivityBudget(at: now)
    }

    mutating func step(_ results: [SessionResult] = []) {
        var number = count
        plan = state.step(
            content,
            revision: revision,
            changedAt: changedAt,
            isWithdrawn: isWithdrawn && content == nil,
            of: ReportedInstallation.surface,
            on: stored.installation,
            results: results,
            at: now * 1_000,
            within: &budget,
            after: sent,
            ids: { _ in
                number += 1
                return APNsID(randomBits: (number, 0))
            }
        )
        count = number
    }

    mutating func show(_ new: SurfaceContent?) {
        revision += 1
        changedAt = now * 1_000
        content = new
        step()
    }

    /// Shows a content that is compared with the one before, as the relay stores it.
    mutating func put(_ new: SurfaceContent) {
        show(new.stored(after: content, with: last))
    }

    mutating func report(_ reports: [ActivityWorld.Report]) throws {
        _ = try stored.apply(reports, ignoringTokensOf: nil, at: now)
        step()
    }

    /// Ends the push that was planned last.
    mutating func settle(_ state: Outcome.State = .delivered, _ status: Int? = 200) throws {
        let id = try #require(plan.sends.last?.id)
        step([SessionResult(id: id, state: state, status: status, endedAt: now * 1_000)])
    }

    /// The account of a kind.
    func account(_ kind: SurfaceKind) throws -> SurfaceAccount {
        try #require(state.account(of: content, changedBy: last).first { $0.kind == kind })
    }

    /// The last change of the surface.
    var last: ContentChange { ContentChange(revision: revision, changedAt: changedAt) }

    /// Returns the report of a card that a push has started a second ago.
    func card(_ token: String?) -> ActivityWorld.Report {
        .cards([ActivityWorld.CardReport(id: "card", token: token, startedAt: now - 1, isStartedByPush: true)])
    }

    /// The broadcast that was planned last; nil for none.
    var broadcast: ActivitySession.Broadcast? {
        plan.sends.compactMap { if case .broadcast(let broadcast) = $0.content { broadcast } else { nil } }.last
    }

    /// Brings the first revision on the phone, with a card on a channel.
    mutating func goLive(on channel: SurfaceChannel) throws {
        try report([.startToken("start")])
        show(.activity(1, on: channel))
        try settle()
        // Before that, the card may not have joined.
        now += 10
        try report([card(nil)])
    }

    /// Brings the first revision on the phone.
    mutating func goLive() throws {
        try report([.startToken("start")])
        show(.activity(1))
        try settle()
        now += 2
        try report([card("update")])
    }
}

extension SurfacePlan.Send {
    /// The token; nil for a broadcast.
    var token: DeviceToken? { if case .device(let token) = destination { token } else { nil } }
}

extension SurfaceContent {
    /// An urgent content with the examples of kinds.
    static func examples(of kinds: SurfaceKind...) -> SurfaceContent {
        SurfaceContent(
            snapshots: kinds.map { SurfaceSnapshot.example(of: $0) },
            isUrgent: true,
            attributesType: ReportedInstallation.attributesType
        )
    }
}
