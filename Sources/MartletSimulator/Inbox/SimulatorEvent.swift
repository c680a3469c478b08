// SPDX-License-Identifier: Apache-2.0

/// An event in a simulator, reported to the readers of events.
enum SimulatorEvent: Sendable {
    /// A push was received and answered.
    case received(ReceivedPush)
    /// A push received earlier has a new delivery event or other tags, or its answer was not written.
    case changed(ReceivedPush)
    /// The pushes with these numbers were forgotten, as far as they were still stored.
    case forgotten(ClosedRange<Int>)
    /// The faults were changed.
    case faultsChanged
    /// The nickname of a device was changed.
    case devicesChanged
    /// The data for previews was changed.
    case previewsChanged
    /// The app on a simulated phone has sent a report.
    case reported(PhoneReport)
    /// Received pushes cannot be written to the data file.
    case archiveFailed(SimulatorError)
    /// The simulator has refused something of a client that is not recorded as a push.
    case noticed(ConnectionNotice)
    /// The simulator is running; sent at intervals, so that the connection of a reader is not idle.
    case keepAlive

    /// Returns whether the event is for the readers of reports of phones, or for those of all other events.
    func isFor(readersOfReports: Bool) -> Bool {
        switch self {
        case .reported: readersOfReports
        case .keepAlive: true
        case .received, .changed, .forgotten, .faultsChanged, .devicesChanged, .previewsChanged, .archiveFailed,
            .noticed:
            !readersOfReports
        }
    }
}
