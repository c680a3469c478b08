// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox

@testable import MartletRelay

/// The installation of a simulated phone, as a relay stores it from the reports of the app.
struct ReportedInstallation {
    static let surface = "order-7"
    static let attributesType = "Order"
    private static let start = Installation.TokenSlot(.start, attributesType)

    private(set) var installation: Installation

    /// Creates an installation that has reported nothing but its system.
    init(at now: Int64, systemVersion: String = "26.1") {
        var generator = SplitMix64(state: 7)
        installation = Installation(
            id: InstallationID(milliseconds: now * 1_000, using: &generator),
            app: "orders",
            user: "anna",
            environment: .production,
            bundleID: "com.example.orders",
            at: now * 1_000
        )
        installation.attributes[.systemVersion] = systemVersion
    }

    /// Returns the token with a name.
    static func token(_ name: String) throws(ActivityWorld.Violation) -> DeviceToken {
        do {
            return try DeviceToken(bytes: Array(name.utf8))
        } catch {
            throw ActivityWorld.Violation(description: "\(error)")
        }
    }

    /// Applies reports in their order, without new tokens of a known activity; returns whether anything but the times
    /// of reports has changed.
    mutating func apply(
        _ reports: [ActivityWorld.Report],
        ignoringTokensOf knownID: String?,
        at now: Int64
    ) throws(ActivityWorld.Violation) -> Bool {
        let old = installation
        for report in reports {
            let change = try change(for: report, ignoringTokensOf: knownID, at: now)
            do {
                try installation.apply(change, at: now * 1_000, by: .app)
            } catch {
                throw ActivityWorld.Violation(description: "the report is refused: \(error)")
            }
        }
        installation.seenAt = now * 1_000
        return installation.activities != old.activities || installation.permissions != old.permissions
            || installation.tokens.mapValues(\.token) != old.tokens.mapValues(\.token)
    }

    /// Removes a token that APNs reported as unregistered, unless the app has reported it since a time in seconds.
    mutating func unregister(_ token: DeviceToken, since time: Int64) {
        installation.tokens = installation.tokens.filter { _, known in
            known.token != token || known.registeredAt > time * 1_000
        }
    }

    /// Records an end of the activity with a token, which the app has not reported.
    mutating func endActivity(with token: DeviceToken, at now: Int64) {
        for (slot, known) in installation.tokens where slot.kind == .activity && known.token == token {
            installation.activities[slot.name]?.end = Installation.Activity.End(.system, at: now * 1_000)
        }
    }

    /// Adds the token of a kind, of a control with its kind.
    mutating func add(
        _ kind: Installation.TokenKind,
        _ name: String,
        of control: String = "",
        at now: Int64
    ) throws(ActivityWorld.Violation) {
        let token = Installation.RegisteredToken(try Self.token(name), registeredAt: now * 1_000)
        installation.tokens[Installation.TokenSlot(kind, control)] = token
        installation.changedAt = now * 1_000
    }

    /// Whether the phone can join a channel.
    var canJoin: Bool { SurfaceChannel.test().canBeJoined(by: installation) }

    mutating func allowAlerts(_ isAllowed: Bool) { installation.permissions[.alerts] = isAllowed }

    private func change(
        for report: ActivityWorld.Report,
        ignoringTokensOf knownID: String?,
        at now: Int64
    ) throws(ActivityWorld.Violation) -> InstallationChange {
        var change = InstallationChange()
        switch report {
        case .startToken(let name): change.tokens[Self.start] = try Self.token(name)
        case .allowed(let isAllowed): change.permissions[.liveActivities] = isAllowed
        case .allGone: end(.system, except: [], in: &change, at: now)
        case .gone(let id, let cause): end(id, cause, in: &change, at: now)
        case .cards(let cards):
            end(.system, except: Set(cards.map(\.id)), in: &change, at: now)
            for card in cards {
                var activity = ActivityChange()
                activity.surface = Self.surface
                activity.startedAt = card.startedAt * 1_000
                let starter: Installation.Activity.Starter = card.isStartedByPush ? .push : .app
                activity.startedBy = starter
                change.activities[card.id] = activity
                guard let name = card.token, card.id != knownID else { continue }
                change.tokens[Installation.TokenSlot(.activity, card.id)] = try Self.token(name)
            }
        }
        return change
    }

    private func end(
        _ cause: Installation.Activity.End.Cause,
        except ids: Set<String>,
        in change: inout InstallationChange,
        at now: Int64
    ) {
        for (id, activity) in installation.activities where activity.end == nil && !ids.contains(id) {
            end(id, cause, in: &change, at: now)
        }
    }

    private func end(
        _ id: String,
        _ cause: Installation.Activity.End.Cause,
        in change: inout InstallationChange,
        at now: Int64
    ) {
        // The first report about an end counts.
        guard installation.activities[id]?.end == nil else { return }
        var activity = ActivityChange()
        activity.surface = Self.surface
        activity.end = Installation.Activity.End(cause, at: now * 1_000)
        change.activities[id] = activity
    }
}

extension SurfaceContent {
    /// The content of a Live Activity in a revision, which is the number at the end of the snapshot's identifier.
    static func activity(
        _ revision: Int,
        isUrgent: Bool = false,
        on channel: SurfaceChannel? = nil
    ) -> SurfaceContent {
        let snapshot = Snapshot(
            id: "\(ReportedInstallation.surface)@\(revision)",
            surfaceID: ReportedInstallation.surface,
            updatedAt: "2026-05-12T18:31:00.000Z",
            state: .active,
            surface: LiveActivitySurface(
                title: "On its way",
                body: "\(revision) stops before you",
                progress: 0.5,
                deepLink: "shop://orders/7",
                modeLabel: "Delivery",
                stage: .inProgress
            )
        )
        return SurfaceContent(
            snapshots: [.liveActivity(snapshot)],
            isUrgent: isUrgent,
            attributesType: ReportedInstallation.attributesType,
            channel: channel
        )
    }

    /// Returns the content with a change of each snapshot, which is a JSON Merge Patch.
    func merging(_ patch: JSONValue) throws -> SurfaceContent {
        var content = self
        content.snapshots = []
        for snapshot in snapshots { content.snapshots.append(try SurfaceSnapshot(snapshot.json.merging(patch))) }
        return content
    }

    /// Returns the content as it is stored in place of another one, which came with a change of the surface.
    func stored(after old: SurfaceContent?, with change: ContentChange) -> SurfaceContent {
        let surface = old.map { old in
            StoredSurface(
                number: 1,
                revision: change.revision,
                surface: MartletOutbox.Surface(
                    app: "orders",
                    id: ReportedInstallation.surface,
                    caller: "back end",
                    audience: .users(["anna"]),
                    request: old.stored,
                    fingerprint: []
                ),
                createdAt: 0,
                changedAt: change.changedAt
            )
        }
        var content = self
        content.unchanged = content.unchangedKinds(of: surface)
        return content
    }
}

extension SurfaceChannel {
    /// Returns a channel; by default one that the app of a ``ReportedInstallation`` can join.
    static func test(
        _ id: ChannelID = "Y2hhbm5lbA==",
        storesBroadcasts: Bool = false,
        environment: PushEnvironment = .production,
        bundleID: String = "com.example.orders"
    ) -> SurfaceChannel {
        SurfaceChannel(id: id, storesBroadcasts: storesBroadcasts, environment: environment, bundleID: bundleID)
    }
}
