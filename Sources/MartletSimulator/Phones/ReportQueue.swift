// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The reports of a phone on their way to the back end, without I/O or a clock.
struct ReportQueue: Sendable {
    /// A report that waits for the connection of the phone.
    private struct Unsent {
        let number: Int
        let content: SimulatedPhone.Report.Content
        let date: Date
    }

    private let rules: SimulatedPhone.Reports
    private var count = 0
    private var unsent: [Unsent] = []
    private var sent: [SimulatedPhone.Report] = []

    init(_ rules: SimulatedPhone.Reports) {
        self.rules = rules
    }

    /// The arrival of the next report in milliseconds since 1970; nil when none is on its way.
    var nextArrival: Int64? { sent.map(\.arrivalTime).min() }

    /// Adds a report, which waits until ``send(at:using:)``.
    mutating func add(_ content: SimulatedPhone.Report.Content, madeAt date: Date) {
        count += 1
        unsent.append(Unsent(number: count, content: content, date: date))
    }

    /// Sends the reports that wait, of which some are lost, late or repeated.
    mutating func send(at now: Int64, using generator: inout some RandomNumberGenerator) {
        for report in unsent where !generator.decides(rules.loss) {
            let isRepeated = generator.decides(rules.repetition)
            for _ in 0...(isRepeated ? 1 : 0) {
                let delay = generator.decides(rules.lateness) ? rules.lateDelay : rules.delay
                let arrival = now + Int64.random(in: 0...delay.clampedMilliseconds, using: &generator)
                sent.append(
                    SimulatedPhone.Report(
                        number: report.number,
                        content: report.content,
                        date: report.date,
                        arrivalTime: arrival
                    )
                )
            }
        }
        unsent = []
    }

    /// Discards the reports that wait.
    mutating func discardUnsent() { unsent = [] }

    /// Removes the reports that have arrived, and returns them in the order of their arrival.
    mutating func takeArrived(at now: Int64) -> [SimulatedPhone.Report] {
        let arrived = sent.filter { $0.arrivalTime <= now }
        sent.removeAll { $0.arrivalTime <= now }
        return arrived.sorted { ($0.arrivalTime, $0.number) < ($1.arrivalTime, $1.number) }
    }
}
