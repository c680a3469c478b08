// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

/// The reasons against the table gathered from Apple's pages, which lies outside the project.
@Suite struct APNsReasonTests {
    struct Row: Decodable, CustomTestStringConvertible {
        var status: Int
        var reason: String
        var scope: [String]
        var retry: String
        var dropToken: Bool

        var testDescription: String { reason }
    }

    static let file = URL(filePath: "../shared/reference/apns-reasons.json")
    static let rows = (try? JSONDecoder().decode([Row].self, from: Data(contentsOf: file))) ?? []

    @Test(.enabled(if: !rows.isEmpty, "the table is absent: the reasons go unchecked"))
    func `the table has every reason that Apple documents`() {
        #expect(Self.rows.count > 40)
    }

    @Test(arguments: rows) func `each reason is known with its status, scope and advice`(row: Row) {
        let reason = APNsReason(rawValue: row.reason)
        #expect(APNsReason.all.contains { $0.rawValue == row.reason.filter { $0 != " " } })
        #expect(reason.status == row.status)
        #expect(reason.endsDeviceToken == row.dropToken)
        #expect(reason.isTokenUnregistered == (row.status == 410))
        let scopes: [String: APNsReason.Scope] = ["device": .device, "broadcast": .broadcast, "channel": .channel]
        // Apple prints one reason in two spellings, each on its own pages.
        let scope = APNsReason.Scope(row.scope.compactMap { scopes[$0] })
        #expect(row.reason.contains(" ") ? reason.scope.isSuperset(of: scope) : reason.scope == scope)
        let advice: [String: APNsReason.Advice] = [
            "no": .fixFirst, "backoff": .backOff, "refresh-token": .renewToken, "reconnect": .reconnect,
        ]
        #expect(reason.advice == advice[row.retry])
        #expect(reason.explanation?.isEmpty == false)
    }

    @Test(arguments: rows) func `each reason has the cause that its status and advice state`(row: Row) {
        let cause: RefusalCause =
            switch (row.retry, row.status) {
            case ("refresh-token", _): .providerToken
            case ("no", 410): .deviceToken
            case ("no", 403): .credentials
            case ("no", _): .push
            default: row.reason == "TooManyProviderTokenUpdates" ? .providerToken : .temporary
            }
        #expect(RefusalCause(APNsReason(rawValue: row.reason)) == cause)
        // A reason of the table means the same without a time for another attempt as with one.
        let reason = APNsReason(rawValue: row.reason)
        #expect(RefusalCause(status: row.status, reason: reason, hasRetryAfter: true) == cause)
        #expect(cause.isPassing == (row.retry != "no"))
    }

    @Test(arguments: [nil, APNsReason(rawValue: "MoonPhase")])
    func `an unknown reason has the cause of its status`(reason: APNsReason?) {
        #expect(RefusalCause(status: 410, reason: reason) == (reason == nil ? .push : .deviceToken))
        #expect(RefusalCause(status: 403, reason: reason, hasRetryAfter: true) == .credentials)
        for status in [429, 500, 503, 599] { #expect(RefusalCause(status: status, reason: reason) == .temporary) }
        #expect(RefusalCause(status: 400, reason: reason) == .push)
        #expect(RefusalCause(status: 400, reason: reason, hasRetryAfter: true) == .temporary)
    }

    @Test func `every known reason is in the table`() {
        let known = Set(Self.rows.map { $0.reason.filter { $0 != " " } })
        for reason in APNsReason.all where !Self.rows.isEmpty { #expect(known.contains(reason.rawValue)) }
    }

    @Test func `an unknown reason has no status and no effect on the token`() {
        let reason = APNsReason(rawValue: "MoonPhase")
        #expect(reason.description == "MoonPhase")
        #expect(reason.status == nil)
        #expect(reason.advice == .fixFirst)
        #expect(!reason.endsDeviceToken && !reason.isTokenUnregistered)
    }
}
