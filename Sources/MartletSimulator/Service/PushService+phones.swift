// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The simulated phones.
extension PushService {
    /// Does what is due on the phones, and returns them.
    ///
    /// - Parameter isComplete: Whether the durations in the accounts of all phones count up to now, which takes time
    ///   for each phone.
    /// - Returns: The phones; nil without phones.
    func currentPhones(isComplete: Bool) -> PhonePopulation? {
        defer { followPhones() }
        return update { machine, now in
            machine.evaluator.phones?.advance(to: now, isComplete: isComplete)
            return machine.evaluator.phones
        }
    }

    /// States the content that a surface should show on phones with these numbers; nil for its end, and for all phones.
    ///
    /// - Returns: Whether the content is stated, as ``PhonePopulation/expect(_:_:on:at:)`` returns it.
    func expect(_ surface: String, _ content: JSONValue?, on numbers: [Int]?) -> Bool {
        defer { followPhones() }
        return update { machine, now in
            machine.evaluator.phones?.expect(surface, content, on: numbers, at: now) ?? true
        }
    }

    /// Fixes settings of the phone with a number, which exists, or leaves those that are nil to its user again.
    func fix(_ settings: [PhoneSetting: Bool?], ofPhone number: Int) {
        update { machine, now in _ = machine.evaluator.phones?.fix(settings, ofPhone: number, at: now) }
        followPhones()
    }

    /// Returns the stored reports, and those from now on.
    func phoneReports() -> AsyncStream<PhoneReport> {
        let stored = evaluator.phones?.reports ?? []
        return inbox.assumeIsolated { inbox in
            inbox.listen(buffering: Int.max, after: stored) {
                if case .reported(let report) = $0 { report } else { nil }
            }
        }
    }

    /// Returns the reports from now on, after the stored reports with higher numbers than this one; after none for nil.
    func reportEvents(after number: Int?) -> AsyncStream<SimulatorEvent> {
        let missed = Array(evaluator.phones?.reports(after: number ?? .max) ?? [])
        return inbox.assumeIsolated { $0.events(after: nil, reports: missed) }
    }
}
