// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import Synchronization

/// The installations of a model.
struct ModelInstallations: InstallationStore {
    let disk: ModelOutbox.Disk

    func add(_ ticket: EnrollmentTicket, at now: Int64) { disk.model.withLock { $0.installations.add(ticket) } }

    func ticket(_ hash: [UInt8], at now: Int64) -> EnrollmentTicket? {
        disk.model.withLock { $0.installations.ticket(hash, at: now) }
    }

    func enroll(_ enrollment: Enrollment, at now: Int64) -> Bool {
        disk.model.withLock { model in
            let push = model.lastNumber
            guard let tokens = model.changeInstallations({ $0.enroll(enrollment, after: push, at: now) })
            else { return false }
            for token in tokens { _ = model.markRegistered(token, of: enrollment.installation.app) }
            return true
        }
    }

    func importPage(_ page: [Installation], of app: String, at now: Int64) -> [ImportResult] {
        disk.model.withLock { model in
            let copy = model
            let push = model.lastNumber
            return model.changeInstallations { installations in
                installations.importPage(page, of: app, after: push, at: now) { token, environment in
                    copy.isUnregistered(token, environment, of: app)
                }
            }
        }
    }

    func replace(_ stored: StoredInstallation, with new: Installation) -> Bool {
        disk.model.withLock { model in
            let push = model.lastNumber
            guard let tokens = model.changeInstallations({ $0.replace(stored, with: new, after: push) })
            else { return false }
            for token in tokens { _ = model.markRegistered(token, of: new.app) }
            return true
        }
    }

    func remove(_ id: InstallationID, of app: String) -> Bool {
        disk.model.withLock { model in model.changeInstallations { $0.remove(id, of: app) } }
    }

    func removeUser(_ user: String, of app: String) -> Int {
        disk.model.withLock { model in
            model.alerts.removeUser(user, of: app)
            return model.changeInstallations { $0.removeUser(user, of: app) }
        }
    }

    func installation(_ id: InstallationID, of app: String) -> StoredInstallation? {
        disk.model.withLock { $0.installations.installation(id, of: app) }
    }

    func installation(withSecret hash: [UInt8]) -> StoredInstallation? {
        disk.model.withLock { $0.installations.installation(withSecret: hash) }
    }

    func installations(
        of app: String,
        _ selection: InstallationSelection,
        after cursor: Int64,
        limit: Int
    ) -> [StoredInstallation] {
        disk.model.withLock { $0.installations.installations(of: app, selection, after: cursor, limit: limit) }
    }

    func members(of queries: [AudienceQuery], in app: String) -> [[AudienceMember]] {
        disk.model.withLock { model in queries.map { model.installations.members(of: $0, in: app) } }
    }

    func audiencePage(of scan: AudienceScan, limit: Int) -> AudiencePage {
        disk.model.withLock { $0.installations.audiencePage(of: scan, limit: limit) }
    }
}
