// SPDX-License-Identifier: Apache-2.0

import MartletCore

@testable import MartletRelay

/// The changes of the surface by the back end.
extension ActivityWorld {
    mutating func desire(isUrgent: Bool) {
        note("desired \(revision + 1)\(isUrgent ? ", urgent" : "")")
        if content == nil { removal = nil }
        change(to: .activity(revision + 1, isUrgent: isUrgent, on: channel))
        generation = revision
    }

    mutating func withdraw() {
        note("withdrawn")
        if content != nil {
            revision += 1
            generation = revision
            changedAt = now
        }
        content = nil
        isDue = true
    }

    /// Stores a content in place of another one.
    private mutating func change(to new: SurfaceContent) {
        let last = ContentChange(revision: Int64(revision), changedAt: changedAt * 1_000)
        content = new.stored(after: content, with: last)
        if fault == .repeatsContent { content?.unchanged = UnchangedKinds() }
        revision += 1
        changedAt = now
        isDue = true
    }

    /// Changes the surface without a change of what it shows: a phone that is right gets nothing for it.
    mutating func touch(isUrgent: Bool) throws(Violation) {
        guard var new = content else { return }
        note("touched\(isUrgent ? ", urgent" : "")")
        let isSame = new.isUrgent == isUrgent
        new.isUrgent = isUrgent
        let before = self
        change(to: new)
        // An update that waits is sent earlier if it is urgent now.
        guard isSame || state.activity.isRight else { return }
        let (expected, found) = (before.plannedPushes, plannedPushes)
        guard found == expected else {
            throw Violation(description: "\(now): a change of nothing that is shown sends \(found), not \(expected)")
        }
    }

    /// The pushes of the next step.
    private var plannedPushes: [SurfacePlan.Send.Content] {
        var world = self
        return world.takeStep { _ in APNsID(randomBits: (0, 0)) }.sends.map(\.content)
    }
}

extension ActivitySession {
    /// Whether the card shows the desired state, and no push to it is on its way.
    fileprivate var isRight: Bool {
        guard case .live(let card) = assumed.phase, let desired else { return false }
        return !card.lacks(desired) && card.request == nil
    }
}
