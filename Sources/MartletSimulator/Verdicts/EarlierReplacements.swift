// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A place on a device that shows the content of one push at a time.
private struct Place: Hashable {
    let token: String
    let topic: String
    /// The collapse identifier of a notification; nil for the Live Activity of the token.
    let collapseID: String?

    init?(_ push: ReceivedPush) {
        let collapseID = push.headers.collapseID
        guard push.deliveries.fate?.kind.isDelivery ?? (push.status == 200), !push.isBroadcast,
            push.isLiveActivity || collapseID != nil
        else { return nil }
        token = push.deviceToken.lowercased()
        topic = push.headers.topic ?? ""
        self.collapseID = push.isLiveActivity ? nil : collapseID
    }
}

/// Pushes from archives and exports of earlier versions, which did not record what newer pushes replaced on a device.
extension [ReceivedPush] {
    /// Adds the missing events of pushes, oldest first, whose place a newer one has taken.
    mutating func addReplacements() {
        var newest: [Place: (number: Int, time: Int64, isEnd: Bool)] = [:]
        for index in indices.reversed() {
            guard let place = Place(self[index]), let event = effect(of: self[index]) else { continue }
            let newer = newest.updateValue((self[index].number, self[index].time, event == .end), forKey: place)
            guard let newer else { continue }
            let kind = newer.isEnd ? DeliveryEvent.Kind.activityEnded : .replacedOnDevice
            self[index].record(DeliveryEvent(kind, by: newer.number, at: newer.time))
        }
    }

    /// Returns the effect of a delivered push on its place, `update` for a notification; nil when it shows nothing.
    private func effect(of push: ReceivedPush) -> ActivityPush.Event? {
        let payload = push.content
        guard push.isLiveActivity else {
            return NotificationPresentation.isVisible(push.headers, payload) ? .update : nil
        }
        // A start is sent to the token of the device, and its activity has a token of its own.
        let event = payload?["aps"]?["event"]?.stringValue.flatMap(ActivityPush.Event.init(rawValue:))
        return event == .start ? nil : event
    }
}
