// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension OutboxError.Kind {
    /// Returns the remedy for an operator; the relay resumes by itself unless it says otherwise.
    func action(at place: OutboxLocation) -> String {
        switch (self, place) {
        case (.damaged, .file(let path)):
            "stop the relay, copy \(path) and \(path)-wal to another place, and restore a backup:"
                + " delete \(path)-wal and \(path)-shm, replace \(path) with a copy that martlet relay backup made,"
                + " and start the relay"
        case (.damaged, .database):
            "restore the database with the tools of PostgreSQL"
        case (.full, .file(let path)):
            "free space on the disk of \(path): df -h \(path) shows how much is left"
        case (.full, .database):
            "free space on the disk of the database"
        case (.inUse, _):
            "stop the other relay, or set data to another file"
        case (.unavailable, .file(let path)), (.unreachable, .file(let path)), (.refused, .file(let path)),
            (.closed, .file(let path)):
            "check that the relay can write \(path), and its disk with df and dmesg"
        case (.denied, .file(let path)):
            "give the user of the relay the right to write \(path)"
        case (.denied, .database):
            "give the user of the relay the rights of the owner of the schema martlet"
        case (.unavailable, .database), (.unreachable, .database), (.refused, .database), (.closed, .database):
            "check that the database runs and accepts the connections of the relay"
        }
    }
}
