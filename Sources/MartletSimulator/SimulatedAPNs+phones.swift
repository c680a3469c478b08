// SPDX-License-Identifier: Apache-2.0

/// The simulated phones beside the inbox.
extension SimulatedAPNs {
    /// The simulated phones of a simulator, which live in real time.
    package struct Phones: Sendable {
        /// The maximum number of phones.
        package static let limit = 10_000

        /// The number of phones, 1 to ``limit``.
        package var count: Int
        /// The app on each phone.
        package var app: SimulatedPhone.App
        /// The behavior of each phone.
        package var behavior: SimulatedPhone.Behavior

        /// Creates the settings of phones.
        package init(count: Int, app: SimulatedPhone.App, behavior: SimulatedPhone.Behavior) {
            self.count = count
            self.app = app
            self.behavior = behavior
        }
    }

    /// The result of all pushes to the phones up to now; nil without phones.
    package var phoneSummary: PhoneSummary? {
        get async { await service.currentPhones(isComplete: true).map(PhoneSummary.init) }
    }

    /// The stored reports of the phones, and those from now on, until the simulator stops: a sequence for one reader,
    /// which buffers all unread reports.
    package var phoneReports: AsyncStream<PhoneReport> {
        get async { await service.phoneReports() }
    }
}
