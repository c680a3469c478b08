// SPDX-License-Identifier: Apache-2.0

/// An independent model of phones and of APNs, which predicts the verdict on each push of a world.
///
/// It is written from Apple's documentation and shares no code with the simulator.
struct ModelPhones {
    /// A push as the model knows it.
    struct Push {
        /// The content of a push.
        enum Content {
            /// An alert, with the collapse identifier.
            case alert(collapseID: String?)
            /// A push that shows nothing.
            case silent
            /// An update, or the end, of a Live Activity with a timestamp.
            case activity(timestamp: Int, isEnd: Bool)
        }

        let number: Int
        let token: String
        let content: Content
        /// The time of expiration; nil for thirty days, 0 for no storage.
        let expiration: Int?

        /// The topic, of which APNs stores one push for a device.
        var topic: String {
            if case .activity = content { "activities" } else { "notifications" }
        }
    }

    /// A predicted verdict.
    struct Prediction: Equatable {
        var kind: String
        var by: Int?
        var isOnScreen = false
    }

    private struct Phone {
        var isOffline = false
        /// Whether a push has shown that the token is a device's, and not a Live Activity's.
        var isDevice = false
        var stored: [String: Push] = [:]
        var notifications: [String: Int] = [:]
        var activity: (timestamp: Int, hasEnded: Bool, number: Int)?
    }

    private(set) var predictions: [Int: Prediction] = [:]
    private var phones: [String: Phone] = [:]

    func isOffline(_ token: String) -> Bool { phones[token]?.isOffline ?? false }

    /// Receives a push that APNs accepts.
    mutating func receive(_ push: Push, at now: Int) {
        expire(at: now)
        predictions[push.number] = Prediction(kind: "delivered")
        if push.topic != "activities" { phones[push.token, default: Phone()].isDevice = true }
        guard isOffline(push.token) else { return present(push) }
        guard push.expiration != 0, push.expiration.map({ $0 >= now }) ?? true else {
            predictions[push.number] = Prediction(kind: "discarded")
            return
        }
        if let older = phones[push.token]?.stored[push.topic] {
            change(older.number, Prediction(kind: "discarded", by: push.number))
        }
        phones[push.token, default: Phone()].stored[push.topic] = push
        predictions[push.number] = Prediction(kind: "stored")
    }

    /// Discards the stored pushes that have expired.
    mutating func expire(at now: Int) {
        for (token, phone) in phones {
            for (topic, push) in phone.stored where push.expiration.map({ $0 < now }) ?? false {
                phones[token]?.stored[topic] = nil
                change(push.number, Prediction(kind: "discarded"))
            }
        }
    }

    /// Receives a push that APNs refuses.
    mutating func refuse(_ number: Int) {
        predictions[number] = Prediction(kind: "refused")
    }

    /// The client did not wait for the answer to a push.
    mutating func loseAnswer(of number: Int) {
        predictions[number]?.kind = "unanswered"
    }

    /// Changes whether a phone is offline.
    mutating func setOffline(_ isOffline: Bool, _ token: String, at now: Int) {
        phones[token, default: Phone()].isOffline = isOffline
        guard !isOffline else { return }
        let waiting = (phones[token]?.stored.values.map(\.self) ?? []).sorted { $0.number < $1.number }
        phones[token]?.stored = [:]
        for push in waiting {
            if let expiration = push.expiration, expiration < now {
                change(push.number, Prediction(kind: "discarded"))
            } else {
                present(push)
            }
        }
    }

    /// Forgets a push that was deleted from the inbox, which stays on the phone.
    mutating func forget(_ number: Int) {
        predictions[number] = nil
    }

    private mutating func present(_ push: Push) {
        switch push.content {
        case .silent: change(push.number, Prediction(kind: "delivered"))
        case .alert(let collapseID):
            change(push.number, Prediction(kind: "shown", isOnScreen: true))
            guard let collapseID else { return }
            let older = phones[push.token, default: Phone()].notifications.updateValue(push.number, forKey: collapseID)
            if let older { change(older, Prediction(kind: "replaced", by: push.number)) }
        case .activity(let timestamp, let isEnd):
            let before = phones[push.token]?.activity
            if phones[push.token]?.isDevice == true {
                return change(push.number, Prediction(kind: "not-shown"))
            }
            // Developers report that an end with any timestamp ends the activity (Apple forum 776165).
            if let before, before.hasEnded || !isEnd && before.timestamp >= timestamp {
                return change(push.number, Prediction(kind: "not-shown"))
            }
            phones[push.token, default: Phone()].activity = (timestamp, isEnd, push.number)
            change(push.number, Prediction(kind: "shown", isOnScreen: true))
            if let before {
                change(before.number, Prediction(kind: isEnd ? "ended" : "replaced", by: push.number))
            }
        }
    }

    /// Changes the prediction for a push, unless it was deleted from the inbox.
    private mutating func change(_ number: Int, _ prediction: Prediction) {
        guard let old = predictions[number] else { return }
        predictions[number] = prediction
        // A lost answer stays lost, whatever happens to the push.
        if old.kind == "unanswered" { predictions[number]?.kind = old.kind }
    }
}
