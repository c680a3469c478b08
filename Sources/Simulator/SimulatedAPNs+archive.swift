internal import APNs
internal import APNsServer
internal import Wire

/// What outlives the simulator, where a file was asked for.
extension SimulatedAPNs {
    /// Begins with what the file holds, and has everything that changes kept there.
    func restore(from archive: PushArchive) async throws(SimulatorError) {
        let contents = try await archive.contents()
        unreadablePushes = contents.unreadable
        inbox.restore(contents.pushes, lastNumber: contents.lastNumber)
        for (app, channel, storage) in contents.channels { judge.channels.restore(channel, of: app, storing: storage) }
        unkept = ArchiveChanges(lastNumber: contents.lastNumber)
        // There may have been room for more.
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

    /// Has a channel kept that a request has made, or forgotten that it has removed.
    func keepChannel(of request: APNsRequest, _ verdict: Judge.Verdict) {
        guard case .channels(let app)? = request.target else { return }
        if verdict.status == 201, let channel = verdict.channel {
            keep(channel, of: String(app))
        } else if verdict.status == 204, let channel = request.channelID {
            keep(ChannelID(channel), of: String(app))
        }
    }

    /// Has a channel kept as it is now, or forgotten where it is no more.
    func keep(_ channel: ChannelID, of app: String) {
        guard archive != nil else { return }
        let storage = judge.channels.storage(of: channel.rawValue, in: app)
        unkept.note(ArchiveChanges.Channel(app: app, channel: channel), storage)
        keepSoon()
    }

    /// Has what changed be written, one transaction at a time: what changes meanwhile is the next.
    private func keepSoon() {
        guard archive != nil, keeping == nil, !unkept.isEmpty else { return }
        keeping = Task {
            while !unkept.isEmpty, await keep() {}
            guard archiveProblem != nil, !isStopped else {
                keeping = nil
                return
            }
            // Whatever is wrong with the disk will not be mended sooner.
            loop.schedule(after: SimulatedAPNs.archivePause) { [weak self] in
                self?.assumeIsolated { simulator in
                    simulator.keeping = nil
                    simulator.keepSoon()
                }
            }
        }
    }

    /// Writes what has changed so far; false when it cannot be written.
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

    /// Writes the rest, as far as that is possible, and lets the file go.
    func finishKeeping() async {
        await keeping?.value
        while !unkept.isEmpty, await keep() {}
        for reader in troubleReaders { reader.finish() }
        archive = nil
    }

    /// How long a disk that could not be written to is left alone.
    private static let archivePause: Duration = .seconds(5)
}
