// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension StoredSurface {
    /// The maximum number of installations in a page, so that other calls to the outbox need not wait for long; those
    /// of users, who are few, are one page.
    private static let pageSize = 200
    /// The maximum number of reads for a page of an expression that few installations match.
    private static let readLimit = 10
    /// The slot that a look-up of an audience needs; it does not matter whether an installation has its token.
    private static let slot = Installation.TokenSlot(.device)

    /// Returns the installations that get the current state next; none of a surface that is withdrawn or damaged.
    ///
    /// - Parameter store: The installations.
    /// - Returns: The page.
    /// - Throws: ``OutboxError`` when the installations cannot be read.
    func nextPage(from store: any InstallationStore) async throws(OutboxError) -> SurfacePage {
        guard withdrawnAt == nil, !isDamaged else { return SurfacePage(of: self, next: nil, installations: []) }
        switch surface.audience {
        case .users(let users):
            let found = try await store.members(of: [AudienceQuery(.users(users), Self.slot)], in: surface.app)
            return SurfacePage(of: self, next: nil, installations: Set(found.joined().map(\.number)).sorted())
        case .installation(let id):
            let found = try await store.installation(id, of: surface.app)
            return SurfacePage(of: self, next: nil, installations: found.map { [$0.number] } ?? [])
        case .matching(let expression):
            return try await page(of: expression, from: store)
        }
    }

    private func page(
        of expression: AudienceExpression,
        from store: any InstallationStore
    ) async throws(OutboxError) -> SurfacePage {
        var scan = AudienceScan(expression, of: surface.app, Self.slot, after: cursor ?? 0)
        var installations: [Int64] = []
        for _ in 0..<Self.readLimit where installations.count < Self.pageSize {
            let found = try await store.audiencePage(of: scan, limit: Self.pageSize - installations.count)
            installations += found.members.map(\.number)
            guard let next = found.next else { return SurfacePage(of: self, next: nil, installations: installations) }
            scan.cursor = next
        }
        return SurfacePage(of: self, next: scan.cursor, installations: installations)
    }
}

extension SurfaceAudience {
    /// Returns whether an installation is in the audience.
    ///
    /// Users are compared byte by byte: Swift takes some for equal that are not.
    func contains(_ installation: Installation) -> Bool {
        switch self {
        case .users(let users): users.contains { $0.utf8.elementsEqual(installation.user.utf8) }
        case .installation(let id): id == installation.id
        case .matching(let expression): expression.matches(installation)
        }
    }

    /// Returns whether the audience names a user, or an installation of the user.
    func names(_ user: String, with installations: Set<InstallationID>) -> Bool {
        switch self {
        // Swift takes some users for equal that are not.
        case .users(let users): users.contains { $0.utf8.elementsEqual(user.utf8) }
        case .installation(let id): installations.contains(id)
        case .matching: false
        }
    }
}
