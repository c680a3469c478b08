internal import APNs
internal import APNsServer

/// What outlives the simulator, where a file was asked for.
extension SimulatedAPNs {
    /// Begins with what the file holds, and has everything that changes kept there.
    func restore(from archive: PushArchive) async throws(SimulatorError) {
        let contents = try await archive.contents()
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
        guard archive != nil, case .channels(let name)? = request.target else { return }
        let app = String(name)
        if verdict.status == 201, let channel = verdict.channel {
            let storage = judge.channels.storage(of: channel.rawValue, in: app)
            unkept.note(ArchiveChanges.Channel(app: app, channel: channel, storage: storage))
        } else if verdict.status == 204, let channel = request.channelID {
            unkept.note(ArchiveChanges.Channel(app: app, channel: ChannelID(channel)))
        }
        keepSoon()
    }

    /// Writes what has changed, one transaction at a time: what changes meanwhile is the next.
    private func keepSoon() {
        guard archive != nil, !isKeeping, !unkept.isEmpty else { return }
        isKeeping = true
        Task { await keepAll() }
    }

    /// Writes until nothing is left; gives up for now when the file cannot be written to.
    func keepAll() async {
        defer { isKeeping = false }
        while let archive, !unkept.isEmpty {
            let changes = unkept
            unkept = ArchiveChanges(lastNumber: changes.lastNumber)
            do throws(SimulatorError) {
                try await archive.keep(changes)
                archiveProblem = nil
            } catch {
                unkept.putBack(changes)
                archiveProblem = error
                return
            }
        }
    }
}
