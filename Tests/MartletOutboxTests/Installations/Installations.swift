// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

extension Installation {
    /// An installation by its number, with nothing special about it.
    static func numbered(_ number: UInt64, user: String = "anna", app: String = "orders", at now: Int64 = 100) -> Self {
        var generator = SplitMix64(state: number)
        return Installation(
            id: InstallationID(milliseconds: now, using: &generator),
            app: app,
            user: user,
            environment: .production,
            bundleID: "com.example.\(app)",
            at: now
        )
    }

    /// The installation with its device token.
    func with(_ token: String, _ slot: TokenSlot = TokenSlot(.device), at now: Int64 = 100) throws -> Installation {
        var changed = self
        changed.tokens[slot] = RegisteredToken(try DeviceToken(hex: token), registeredAt: now)
        return changed
    }

    /// The installation with activities: one of which only the surface is known, one with a start, and one that has
    /// ended.
    func withActivities() -> Installation {
        var started = Activity(of: "order-2")
        started.startedAt = .max
        started.startedBy = .channel
        var ended = Activity(of: "order-3")
        ended.startedAt = 0
        ended.startedBy = .push
        ended.end = Activity.End(.system, at: 90)
        var changed = self
        changed.activities = ["a|b\\c": Activity(of: "order \"1\""), "B": started, "c": ended]
        return changed
    }

    /// The device token's digits.
    var deviceToken: String? { tokens[TokenSlot(.device)]?.token.hex }
}

extension InstallationStore {
    /// Enrolls with a ticket of its own, and returns what is stored.
    @discardableResult
    func enroll(
        _ installation: Installation,
        secret: UInt8 = .random(in: .min ... .max),
        replacing replaced: [UInt8]? = nil,
        at now: Int64 = 100
    ) async throws -> StoredInstallation? {
        let hash = Array(installation.id.description.utf8)
        try await add(.numbered(hash, user: installation.user, app: installation.app, expiresAt: now + 1), at: now)
        let enrollment = Enrollment(
            ticketHash: hash,
            installation: installation,
            secretHash: [secret] + hash,
            replacedSecretHash: replaced
        )
        guard try await enroll(enrollment, at: now) else { return nil }
        return try await self.installation(installation.id, of: installation.app)
    }

    /// The users of an app's installations, in their order.
    func users(of app: String = "orders", _ selection: InstallationSelection = .all) async throws -> [String] {
        try await installations(of: app, selection, after: 0, limit: 100).map(\.installation.user)
    }

    /// Reports a token.
    func report(_ token: String, of id: InstallationID, at now: Int64) async throws {
        guard let stored = try await installation(id, of: "orders") else { return }
        var change = InstallationChange()
        change.tokens[.init(.device)] = try DeviceToken(hex: token)
        var new = stored.installation
        try new.apply(change, at: now, by: .app)
        _ = try await replace(stored, with: new)
    }
}

extension InstallationStore {
    /// The installations of one audience.
    func members(
        of audience: Audience,
        in app: String,
        _ slot: Installation.TokenSlot
    ) async throws -> [AudienceMember] {
        try await members(of: [AudienceQuery(audience, slot)], in: app).first ?? []
    }
}

extension EnrollmentTicket {
    static func numbered(
        _ hash: [UInt8],
        user: String = "anna",
        app: String = "orders",
        isSingleUse: Bool = true,
        expiresAt: Int64 = 1_000
    ) -> EnrollmentTicket {
        EnrollmentTicket(
            hash: hash,
            app: app,
            user: user,
            tags: ["vip", "de"],
            isSingleUse: isSingleUse,
            expiresAt: expiresAt
        )
    }
}
