// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The changes that an archive has not stored yet, without I/O.
///
/// Each push and each channel is contained once; a forgotten push is not contained.
struct ArchiveChanges: Sendable {
    /// A channel of an app.
    struct Channel: Sendable, Hashable {
        var app: String
        var channel: ChannelID
    }

    /// New and changed pushes by number.
    private(set) var pushes: [Int: ReceivedPush] = [:]
    private(set) var forgotten: [ClosedRange<Int>] = []
    /// Channels that were created, with their storage policy, or deleted, with nil.
    private(set) var channels: [Channel: ChannelStorage?] = [:]
    /// The nicknames of devices by their tokens; nil for one that was removed.
    private(set) var names: [String: String?] = [:]
    /// The highest number of a push so far.
    private(set) var lastNumber: Int

    /// Creates an empty set of changes after the push of this number.
    init(lastNumber: Int) {
        self.lastNumber = lastNumber
    }

    /// Whether there is nothing to store.
    var isEmpty: Bool { pushes.isEmpty && forgotten.isEmpty && channels.isEmpty && names.isEmpty }

    /// Records an event.
    mutating func record(_ event: SimulatorEvent) {
        switch event {
        case .received(let push):
            lastNumber = max(lastNumber, push.number)
            pushes[push.number] = push
        case .changed(let push):
            pushes[push.number] = push
        case .forgotten(let numbers):
            if numbers.count == 1 {
                pushes[numbers.lowerBound] = nil
            } else {
                pushes = pushes.filter { !numbers.contains($0.key) }
            }
            record(forgotten: numbers)
        case .faultsChanged, .devicesChanged, .previewsChanged, .reported, .noticed, .archiveFailed, .keepAlive: break
        }
    }

    /// Records the storage policy of a channel; nil when the channel was deleted.
    mutating func record(_ channel: Channel, _ storage: ChannelStorage?) {
        channels[channel] = .some(storage)
    }

    /// Records the nickname of a device; nil when it was removed.
    mutating func record(name: String?, ofDevice token: String) {
        names[token] = .some(name)
    }

    /// Adjacent ranges are merged, because a full simulator forgets one push for each that it receives.
    private mutating func record(forgotten numbers: ClosedRange<Int>) {
        if let last = forgotten.last, last.upperBound + 1 == numbers.lowerBound {
            forgotten[forgotten.count - 1] = last.lowerBound...numbers.upperBound
        } else {
            forgotten.append(numbers)
        }
    }

    /// Merges changes that could not be stored with the later ones.
    mutating func putBack(_ earlier: ArchiveChanges) {
        let later = self
        self = earlier
        for numbers in later.forgotten { record(.forgotten(numbers)) }
        pushes.merge(later.pushes) { $1 }
        channels.merge(later.channels) { $1 }
        names.merge(later.names) { $1 }
        lastNumber = max(lastNumber, later.lastNumber)
    }
}
