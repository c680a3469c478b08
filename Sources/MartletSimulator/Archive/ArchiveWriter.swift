// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// Writes received pushes and channels to the data file, one transaction at a time.
///
/// The actor runs on the event loop of the simulator; ``PushArchive`` accesses the disk on a thread of its own. Without
/// a data file, nothing is recorded.
actor ArchiveWriter {
    /// The time before a failed write is tried again.
    private static let retryInterval: Duration = .seconds(5)

    private nonisolated let loop: EventLoop
    /// The executor of the actor: the event loop of the simulator.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let inbox: PushInbox
    private var archive: PushArchive?
    /// The changes that have not been written to the file.
    private var unsaved = ArchiveChanges(lastNumber: 0)
    /// The task that writes the changes; after a failed write, it remains set until the next attempt.
    private var writing: Task<Void, Never>?
    private var isClosing = false
    /// The error that prevents changes from being written; nil when there is none.
    private(set) var problem: SimulatorError?
    /// The number of pushes in the file that could not be read.
    private(set) var unreadablePushes = 0

    /// Creates a writer without a data file, for the pushes of an inbox.
    init(for inbox: PushInbox, on loop: EventLoop) {
        self.inbox = inbox
        self.loop = loop
    }

    /// Opens a file, restores its pushes to the inbox, and writes every later change of the inbox to the file.
    ///
    /// - Returns: The channels in the file.
    /// - Throws: ``SimulatorError`` when the file cannot be used.
    func restore(from file: String) async throws(SimulatorError) -> [PushArchive.StoredChannel] {
        let archive = try PushArchive(file: file)
        let contents = try await archive.contents()
        unreadablePushes = contents.unreadable
        unsaved = ArchiveChanges(lastNumber: contents.lastNumber)
        self.archive = archive
        // The file may hold more pushes than the inbox stores.
        let forgotten = await inbox.restore(
            contents.pushes,
            lastNumber: contents.lastNumber,
            names: contents.names
        )
        for numbers in forgotten { unsaved.record(.forgotten(numbers)) }
        await inbox.setEventHandler { [weak self] events in
            self?.assumeIsolated { writer in writer.save(events) }
        }
        return contents.channels
    }

    private func save(_ events: [SimulatorEvent]) {
        for event in events { unsaved.record(event) }
        writeSoon()
    }

    /// Saves the storage policy of a channel; nil when the channel was deleted.
    func save(_ channel: ChannelID, of app: String, _ storage: ChannelStorage?) {
        guard archive != nil else { return }
        unsaved.record(ArchiveChanges.Channel(app: app, channel: channel), storage)
        writeSoon()
    }

    /// Saves the nickname of a device; nil when it was removed.
    func save(name: String?, ofDevice token: String) {
        guard archive != nil else { return }
        unsaved.record(name: name, ofDevice: token)
        writeSoon()
    }

    /// Writes the changes; changes made meanwhile are written by the next transaction.
    private func writeSoon() {
        guard archive != nil, writing == nil, !unsaved.isEmpty else { return }
        writing = Task {
            while !unsaved.isEmpty, await write() {}
            guard problem != nil, !isClosing else {
                writing = nil
                return
            }
            // A failing disk is not retried at once.
            loop.schedule(after: ArchiveWriter.retryInterval) { [weak self] in
                self?.assumeIsolated { writer in
                    writer.writing = nil
                    writer.writeSoon()
                }
            }
        }
    }

    /// Writes the changes so far; returns false when they cannot be written.
    private func write() async -> Bool {
        guard let archive else { return false }
        let changes = unsaved
        unsaved = ArchiveChanges(lastNumber: changes.lastNumber)
        do throws(SimulatorError) {
            try await archive.write(changes)
            problem = nil
            return true
        } catch {
            unsaved.putBack(changes)
            let isFirst = problem == nil
            problem = error
            if isFirst { await inbox.report(.archiveFailed(error)) }
            return false
        }
    }

    /// Writes the remaining changes, unless that fails, and closes the file.
    func close() async {
        isClosing = true
        await writing?.value
        while !unsaved.isEmpty, await write() {}
        archive = nil
    }
}
