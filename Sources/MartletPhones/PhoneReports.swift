// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletSimulator
import Synchronization

extension InstallationClient {
    /// Reports what the app of a phone has found.
    ///
    /// - Parameters:
    ///   - content: The report.
    ///   - type: The app's type of attributes of Live Activities.
    func report(_ content: SimulatedPhone.Report.Content, of type: String) {
        switch content {
        case .systemVersion(let version): report([.systemVersion: version])
        case .deviceToken(let token): report(token.bytes, for: .device)
        case .pushToStartToken(let token): report(token.bytes, for: .start(attributesType: type))
        case .widgetToken(let token, kinds: _): report(token.bytes, for: .widgets)
        case .controlTokens(let controls):
            for control in controls { report(control.token.bytes, for: .control(kind: control.kind)) }
        case .permissions(let permissions):
            report([
                .alerts: permissions.alerts, .liveActivities: permissions.liveActivities,
                .frequentUpdates: permissions.frequentUpdates,
            ])
        case .activities(let activities):
            for activity in activities {
                let starter: ActivityStarter = activity.isStartedByPush ? .push : .app
                reportActivity(activity.id, of: activity.surface, startedAt: activity.startedAt, by: starter)
                if let token = activity.token { report(token.bytes, forActivity: activity.id) }
            }
        case .ended(let ending):
            reportEnd(ofActivity: ending.id, by: ending.cause.reported, at: ending.endedAt)
        }
    }
}

/// The storage of a client in memory, for as long as the program runs.
final class MemoryStorage: InstallationStorage {
    private let state = Mutex<[UInt8]?>(nil)

    func load() -> [UInt8]? { state.withLock { $0 } }
    func save(_ new: [UInt8]) { state.withLock { $0 = new } }
}
