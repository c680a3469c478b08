// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import OutboxModel

/// The phones of the world, and their changes.
extension JobWorld {
    struct Phone {
        let id: InstallationID
        let user: String
        let isVIP: Bool
        let enrolledAt: Int64
        var token: DeviceToken?
        var registeredAt: Int64
        var isAllowed = true
        /// The time of the last change of the token or the permission.
        var changedAt: Int64
        var isGone = false
    }

    private func place(_ index: Int, where isWanted: (Phone) -> Bool = { _ in true }) -> Int? {
        let places = phones.indices.filter { !phones[$0].isGone && isWanted(phones[$0]) }
        return places.isEmpty ? nil : places[index % places.count]
    }

    private mutating func nextToken() throws -> DeviceToken {
        lastToken += 1
        return try DeviceToken(hex: String(lastToken, radix: 16))
    }

    mutating func enroll() async throws {
        guard phones.count(where: { !$0.isGone }) < Self.phoneLimit else { return }
        let hasToken = anyNumber() % 5 > 0
        let token = try hasToken ? nextToken() : nil
        try await enroll(with: token)
    }

    private mutating func enroll(with token: DeviceToken?) async throws {
        let number = anyNumber()
        let user = Self.users[number % Self.users.count]
        let id = InstallationID(milliseconds: now, using: &random)
        var installation = Installation(
            id: id,
            app: Self.app,
            user: user,
            environment: .production,
            bundleID: "com.example.orders",
            at: now
        )
        let isVIP = Bool.random(using: &random)
        if isVIP { installation.tags = ["vip"] }
        if let token { installation.tokens[Self.device] = Installation.RegisteredToken(token, registeredAt: now) }
        let hash = Array(id.description.utf8)
        let ticket = EnrollmentTicket(
            hash: hash,
            app: Self.app,
            user: user,
            tags: [],
            isSingleUse: true,
            expiresAt: now + 1
        )
        try await outbox.installations.add(ticket, at: now)
        let enrollment = Enrollment(ticketHash: hash, installation: installation, secretHash: [1] + hash)
        guard try await outbox.installations.enroll(enrollment, at: now) else {
            throw Violation(description: "a phone cannot enroll")
        }
        tell?("\(id) of \(user) enrolls")
        phones.append(
            Phone(
                id: id,
                user: user,
                isVIP: isVIP,
                enrolledAt: now,
                token: token,
                registeredAt: now,
                changedAt: now
            )
        )
    }

    mutating func changeToken() async throws {
        let number = anyNumber()
        guard let place = place(number) else { return }
        let token = try nextToken()
        tell?("\(phones[place].id) has another token")
        phones[place].token = token
        phones[place].registeredAt = now
        let registered = Installation.RegisteredToken(token, registeredAt: now)
        try await change(place) { $0.tokens[Self.device] = registered }
    }

    mutating func changePermission() async throws {
        let number = anyNumber()
        guard let place = place(number) else { return }
        let isAllowed = Bool.random(using: &random)
        tell?("\(phones[place].id) \(isAllowed ? "permits" : "forbids") alerts")
        phones[place].isAllowed = isAllowed
        try await change(place) { $0.permissions[.alerts] = isAllowed }
    }

    private mutating func change(_ place: Int, _ edit: (inout Installation) -> Void) async throws {
        phones[place].changedAt = now
        guard let stored = try await outbox.installations.installation(phones[place].id, of: Self.app) else {
            throw Violation(description: "\(phones[place].id) is missing")
        }
        var new = stored.installation
        edit(&new)
        guard try await outbox.installations.replace(stored, with: new) else {
            throw Violation(description: "\(phones[place].id) cannot change")
        }
    }

    /// A user enrolls on a phone that another installation has a token of.
    mutating func moveToken() async throws {
        let number = anyNumber()
        guard phones.count(where: { !$0.isGone }) < Self.phoneLimit,
            let place = place(number, where: { $0.token != nil })
        else { return }
        tell?("the token of \(phones[place].id) moves")
        let token = phones[place].token
        removeToken(of: place)
        try await enroll(with: token)
    }

    mutating func removeToken(of place: Int) {
        phones[place].token = nil
        phones[place].changedAt = now
    }

    mutating func leave() async throws {
        let number = anyNumber()
        guard let place = place(number) else { return }
        tell?("\(phones[place].id) leaves")
        _ = try await outbox.installations.remove(phones[place].id, of: Self.app)
        phones[place].isGone = true
    }

    mutating func eraseUser() async throws {
        let number = anyNumber()
        let user = Self.users[number % Self.users.count]
        tell?("\(user) is erased")
        for step in try await outbox.erasePushes(ofUser: user, of: Self.app, at: now) {
            try recordEnds(of: step.cancelled)
        }
        _ = try await outbox.installations.removeUser(user, of: Self.app)
        for place in phones.indices where phones[place].user == user { phones[place].isGone = true }
    }
}
