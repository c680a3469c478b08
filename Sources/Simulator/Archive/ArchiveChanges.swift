internal import APNs

/// What an archive has not been told yet: a struct without I/O.
///
/// It holds each push and each channel once, and no push that has been forgotten.
struct ArchiveChanges: Sendable {
    /// A channel of an app.
    struct Channel: Sendable, Hashable {
        var app: String
        var channel: ChannelID
    }

    /// New and changed pushes by their numbers.
    private(set) var pushes: [Int: ReceivedPush] = [:]
    private(set) var forgotten: [ClosedRange<Int>] = []
    /// Channels that were made, with what they store, or removed: then nil.
    private(set) var channels: [Channel: ChannelStorage?] = [:]
    /// The number of the newest push there ever was.
    private(set) var lastNumber: Int

    /// No changes since the push of this number.
    init(lastNumber: Int) {
        self.lastNumber = lastNumber
    }

    /// Whether there is nothing to tell.
    var isEmpty: Bool { pushes.isEmpty && forgotten.isEmpty && channels.isEmpty }

    /// Notes what happened.
    mutating func note(_ event: SimulatorEvent) {
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
            note(forgotten: numbers)
        case .faultsChanged, .previewsChanged, .streamsRefused, .trouble, .nothing: break
        }
    }

    /// Notes that a channel stores this now, or is no more.
    mutating func note(_ channel: Channel, _ storage: ChannelStorage?) {
        channels[channel] = .some(storage)
    }

    /// Ranges that follow each other are one, as one goes for each that comes once the simulator is full.
    private mutating func note(forgotten numbers: ClosedRange<Int>) {
        if let last = forgotten.last, last.upperBound + 1 == numbers.lowerBound {
            forgotten[forgotten.count - 1] = last.lowerBound...numbers.upperBound
        } else {
            forgotten.append(numbers)
        }
    }

    /// Puts back what could not be told, before what has happened since.
    mutating func putBack(_ earlier: ArchiveChanges) {
        let later = self
        self = earlier
        for numbers in later.forgotten { note(.forgotten(numbers)) }
        pushes.merge(later.pushes) { $1 }
        channels.merge(later.channels) { $1 }
        lastNumber = max(lastNumber, later.lastNumber)
    }
}
