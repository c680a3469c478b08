// SPDX-License-Identifier: Apache-2.0

package import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Simulated phones with one app, each with its user, without I/O or a clock; times are in milliseconds since 1970.
///
/// The phones are numbered from 1. The seed determines every decision.
struct PhonePopulation: Sendable {
    /// The time between the first uses of two phones, so that not all enroll at the same time.
    private static let installInterval: Int64 = 20
    /// The number of reports that are certainly stored.
    private static let reportLimit = 50_000
    /// The maximum number of surfaces of which content is stated: a phone judges all of them after each change.
    static let surfaceLimit = 1_000

    let app: SimulatedPhone.App
    private(set) var phones: [PhoneWithUser]
    /// The next time at which each phone changes.
    private var nextTimes: [Int64]
    /// The next time at which a phone changes by itself, its user uses it, or a report arrives; a push can have
    /// postponed it.
    private(set) var nextTime: Int64
    /// The index of the phone of each token that was reported, by its digits in lower case.
    private var owners: [String: Int] = [:]
    /// The indices of the phones that should show a surface, by its identifier.
    private var statedPhones: [String: Set<Int>] = [:]
    /// The newest reports, oldest first.
    private(set) var reports: [PhoneReport] = []

    /// Creates the phones, without the app until the first use of each.
    init(_ configuration: SimulatedAPNs.Phones, seed: UInt64, at now: Int64) {
        app = configuration.app
        var generator = SplitMix64(state: seed)
        phones = []
        for index in 0..<max(1, configuration.count) {
            let phone = SimulatedPhone(
                app: configuration.app,
                behavior: configuration.behavior,
                seed: generator.next(),
                at: Date(millisecondsSince1970: now)
            )
            let firstUse = now + Int64(index) * PhonePopulation.installInterval
            phones.append(PhoneWithUser(phone, PhoneUser(seed: generator.next(), firstUse: firstUse)))
        }
        nextTimes = phones.map(\.nextTime)
        nextTime = now
    }

    // MARK: Time

    /// Does all that is due until a time.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - isComplete: Whether the durations in the accounts of all phones count up to this time, too.
    mutating func advance(to now: Int64, isComplete: Bool = false) {
        for index in phones.indices where isComplete || nextTimes[index] <= now {
            change(index) { $0.advance(to: now) }
        }
        nextTime = nextTimes.min() ?? .max
    }

    private mutating func change(_ index: Int, _ body: (inout PhoneWithUser) -> Void) {
        body(&phones[index])
        for report in phones[index].takeReports() { add(report, of: index) }
        nextTimes[index] = phones[index].nextTime
        // A search for the minimum after each push would take time for each phone.
        nextTime = min(nextTime, nextTimes[index])
    }

    // MARK: Reports

    /// The number of the report that arrived last; 0 for none.
    var lastReport: Int { reports.last?.number ?? 0 }

    /// Returns the stored reports after the one with a number, oldest first.
    func reports(after number: Int) -> ArraySlice<PhoneReport> {
        // The numbers of the stored reports are consecutive.
        let unread = max(0, lastReport - max(0, number))
        return reports.suffix(unread)
    }

    private mutating func add(_ report: SimulatedPhone.Report, of index: Int) {
        for token in report.content.tokens { owners[token.hex] = index }
        if reports.count >= 2 * PhonePopulation.reportLimit { reports.removeFirst(PhonePopulation.reportLimit) }
        reports.append(
            PhoneReport(
                number: lastReport + 1,
                phone: index + 1,
                time: report.arrivalTime,
                change: report.content.change(of: app)
            )
        )
    }

    // MARK: Settings

    /// Fixes settings of the phone with a number, which exists, or leaves those that are nil to its user again.
    mutating func fix(_ settings: [PhoneSetting: Bool?], ofPhone number: Int, at now: Int64) {
        change(number - 1) { $0.fix(settings, at: now) }
    }

    // MARK: Pushes

    /// Returns the number of the phone that has reported a token; nil for another token.
    func phone(of token: DeviceToken) -> Int? { owners[token.hex].map { $0 + 1 } }

    /// Returns the answer of APNs to a push, as far as it depends on the phone; nil for a token that no phone reported.
    func answer(to token: String, topic: String) -> SimulatedPhone.Answer? {
        guard let index = owners[token.lowercased()], let token = try? DeviceToken(hex: token) else { return nil }
        return phones[index].phone.answer(to: token, topic: topic)
    }

    /// Passes an answered push to the phone of its token, if there is one, and an accepted broadcast to all phones.
    mutating func receive(_ push: ReceivedPush, at now: Int64) {
        if let channel = push.channel {
            guard push.status == 200, push.app == app.topic.rawValue else { return }
            for index in phones.indices { change(index) { $0.receive(push, on: channel, at: now) } }
            return
        }
        guard let index = owners[push.deviceToken.lowercased()], let token = push.token else { return }
        change(index) { $0.receive(push, to: token, at: now) }
    }

    // MARK: Judgement

    /// States the content that a surface should show; nil for its end.
    ///
    /// - Parameters:
    ///   - surface: The identifier of the surface.
    ///   - content: The content of its card.
    ///   - numbers: The numbers of the phones, each of which exists; nil for all.
    ///   - now: The time.
    /// - Returns: Whether the content is stated; false if that of ``surfaceLimit`` other surfaces is.
    @discardableResult
    mutating func expect(_ surface: String, _ content: JSONValue?, on numbers: [Int]?, at now: Int64) -> Bool {
        let indices = numbers.map { $0.map { $0 - 1 } } ?? Array(phones.indices)
        var stated = statedPhones[surface] ?? []
        if content == nil {
            stated.subtract(indices)
        } else {
            guard !stated.isEmpty || statedPhones.count < PhonePopulation.surfaceLimit else { return false }
            stated.formUnion(indices)
        }
        statedPhones[surface] = stated.isEmpty ? nil : stated
        for index in indices { change(index) { $0.expect(surface, content, at: now) } }
        return true
    }
}

/// A report of the app on one of the simulated phones, which has arrived at the back end.
package struct PhoneReport: Sendable, Hashable {
    /// The number of the report in the order of arrival, from 1.
    package let number: Int
    /// The number of the phone.
    package let phone: Int
    /// The time of the arrival in milliseconds since 1970.
    let time: Int64
    /// The change of the installation, as ``SimulatedPhone/Report/Content/change(of:)`` returns it.
    package let change: JSONValue

    /// The identifier of the user of a phone, as a back end knows it.
    package static func user(of phone: Int) -> String { "phone-\(phone)" }
}
