internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// The data file that keeps pushes and channels from one run to the next.
extension SimulatedAPNs {
    /// Loads the pushes and channels of the file, and writes every later change to it.
    func restore(from archive: PushArchive) async throws(SimulatorError) {
        let contents = try await archive.contents()
        unreadablePushes = contents.unreadable
        inbox.restore(contents.pushes, lastNumber: contents.lastNumber)
        for (app, channel, storage) in contents.channels { judge.channels.restore(channel, of: app, storing: storage) }
        unkept = ArchiveChanges(lastNumber: contents.lastNumber)
        // The file may hold more pushes than the inbox stores.
        if let oldest = inbox.log.pushes.first, oldest.number > 1 { unkept.note(.forgotten(1...oldest.number - 1)) }
        self.archive = archive
        inbox.follow { [weak self] event in
            self?.assumeIsolated { simulator in
                simulator.unkept.note(event)
                simulator.keepSoon()
            }
            return self != nil
        }
    }

    /// Records a channel that a request has created or deleted, to be written to the file.
    func keepChannel(of request: APNsRequest, _ verdict: Judge.Verdict) {
        guard case .channels(let app)? = request.target else { return }
        if verdict.status == 201, let channel = verdict.channel {
            keep(channel, of: String(app))
        } else if verdict.status == 204, let channel = request.channelID {
            keep(ChannelID(channel), of: String(app))
        }
    }

    /// Records the current state of a channel, or its deletion, to be written to the file.
    func keep(_ channel: ChannelID, of app: String) {
        guard archive != nil else { return }
        let storage = judge.channels.storage(of: channel.rawValue, in: app)
        unkept.note(ArchiveChanges.Channel(app: app, channel: channel), storage)
        keepSoon()
    }

    /// Writes the changes, one transaction at a time; changes made meanwhile are written by the next.
    private func keepSoon() {
        guard archive != nil, keeping == nil, !unkept.isEmpty else { return }
        keeping = Task {
            while !unkept.isEmpty, await keep() {}
            guard archiveProblem != nil, !isStopped else {
                keeping = nil
                return
            }
            // A failing disk is not retried at once.
            loop.schedule(after: SimulatedAPNs.archivePause) { [weak self] in
                self?.assumeIsolated { simulator in
                    simulator.keeping = nil
                    simulator.keepSoon()
                }
            }
        }
    }

    /// Writes the changes so far; returns false when they cannot be written.
    private func keep() async -> Bool {
        guard let archive else { return false }
        let changes = unkept
        unkept = ArchiveChanges(lastNumber: changes.lastNumber)
        do throws(SimulatorError) {
            try await archive.keep(changes)
            archiveProblem = nil
            return true
        } catch {
            unkept.putBack(changes)
            if archiveProblem == nil {
                for reader in troubleReaders { reader.yield(error) }
                inbox.note(.trouble(error))
                tellFollowersSoon()
            }
            archiveProblem = error
            return false
        }
    }

    /// Writes the remaining changes, unless that fails, and closes the file.
    func finishKeeping() async {
        await keeping?.value
        while !unkept.isEmpty, await keep() {}
        for reader in troubleReaders { reader.finish() }
        archive = nil
    }

    /// The time before a failed write is tried again.
    private static let archivePause: Duration = .seconds(5)
}
