// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The installations of a sealed outbox.
struct SealedInstallations: InstallationStore {
    let store: any InstallationStore
    let keeper: SealKeeper

    func add(_ ticket: EnrollmentTicket, at now: Int64) async throws(OutboxError) {
        try await store.add(ticket, at: now)
    }

    func ticket(_ hash: [UInt8], at now: Int64) async throws(OutboxError) -> EnrollmentTicket? {
        try await store.ticket(hash, at: now)
    }

    func enroll(_ enrollment: Enrollment, at now: Int64) async throws(OutboxError) -> Bool {
        var sealed = enrollment
        for installation in try await keeper.seal([enrollment.installation]) { sealed.installation = installation }
        return try await store.enroll(sealed, at: now)
    }

    func importPage(
        _ page: [Installation],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) -> [ImportResult] {
        try await store.importPage(try await keeper.seal(page), of: app, at: now)
    }

    func installation(_ id: InstallationID, of app: String) async throws(OutboxError) -> StoredInstallation? {
        let seal = try await keeper.seal()
        return try await store.installation(id, of: app).map { $0.opened(by: seal) }
    }

    func installation(withSecret hash: [UInt8]) async throws(OutboxError) -> StoredInstallation? {
        let seal = try await keeper.seal()
        return try await store.installation(withSecret: hash).map { $0.opened(by: seal) }
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [StoredInstallation] {
        let seal = try await keeper.seal()
        return try await store.installations(of: app, selection, after: cursor, limit: limit)
            .map { $0.opened(by: seal) }
    }

    func members(of queries: [AudienceQuery], in app: String) async throws(OutboxError) -> [[AudienceMember]] {
        let seal = try await keeper.seal()
        return try await store.members(of: queries, in: app)
            .map { members in members.map { $0.opened(by: seal, of: app) } }
    }

    func audiencePage(of scan: AudienceScan, limit: Int) async throws(OutboxError) -> AudiencePage {
        let seal = try await keeper.seal()
        var page = try await store.audiencePage(of: scan, limit: limit)
        page.members = page.members.map { $0.opened(by: seal, of: scan.app) }
        return page
    }

    func replace(_ stored: StoredInstallation, with new: Installation) async throws(OutboxError) -> Bool {
        let seal = try await keeper.seal()
        let (old, new) = try OutboxError.mapping { () throws(CryptographyError) in
            (try seal.seal(stored.installation), try seal.seal(new))
        }
        var sealed = stored
        sealed.installation = old
        return try await store.replace(sealed, with: new)
    }

    func remove(_ id: InstallationID, of app: String) async throws(OutboxError) -> Bool {
        try await store.remove(id, of: app)
    }

    func removeUser(_ user: String, of app: String) async throws(OutboxError) -> Int {
        try await store.removeUser(user, of: app)
    }
}

extension StoredInstallation {
    /// Returns the installation with the tokens that can be opened.
    func opened(by seal: OutboxSeal) -> StoredInstallation {
        var opened = self
        opened.installation = seal.open(installation)
        return opened
    }
}

extension AudienceMember {
    fileprivate func opened(by seal: OutboxSeal, of app: String) -> AudienceMember {
        var opened = self
        opened.token = token.flatMap { seal.open($0, of: app) }
        return opened
    }
}
