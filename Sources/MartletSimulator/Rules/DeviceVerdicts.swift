// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The answers of APNs to pushes that depend on the device.
extension DeviceRegistry {
    /// Returns the answer of APNs to a push to the token in the path, as far as it depends on the device.
    func answer(to token: String, topic: String) -> RequestEvaluator.Answer {
        guard !token.isEmpty else {
            let text = "there is no device token after /3/device/"
            return .refused(.deviceToken(.missingDeviceToken, .deviceTokenMissing, text))
        }
        let path = token
        let token: DeviceToken
        do throws(DeviceTokenError) {
            token = try DeviceToken(hex: path)
        } catch {
            // Apple documents no maximum length.
            let refuser = if case .tooLong = error { "the simulator" } else { "APNs" }
            let place = PushLint.Place.header(":path")
            return .refused(Refusal(.badDeviceToken, .deviceTokenMalformed, place, "\(error)", refuser: refuser))
        }
        // An unregistered token counts as valid, so that a first push needs no preparation.
        guard let device = self[token.hex] else { return .accepted }
        if device.hasNoToken {
            let text =
                "this is the identifier of a Live Activity that listens on a channel, and not a device token: send a"
                + " broadcast"
            return .refused(.deviceToken(.badDeviceToken, .activityTokenWrong, text))
        }
        if device.environment != environment {
            let text =
                "the device token belongs to \(device.environment.rawValue), and the environment of the simulator is"
                + " \(environment.rawValue): send the push to the other host"
            return .refused(.deviceToken(.badDeviceToken, .deviceTokenOfOtherEnvironment, text))
        }
        if let since = device.unregisteredTime { return .unregistered(since: since) }
        guard let topics = device.topics, !topics.contains(topic) else { return .accepted }
        let registered = topics.sorted().joined(separator: ", ")
        let text = "the device token is registered for \(registered), not for \(ShownValue(topic))"
        return .refused(.deviceToken(.deviceTokenNotForTopic, .deviceTokenOfOtherTopic, text))
    }
}

extension RequestEvaluator.Answer {
    /// Creates the answer that depends on a simulated phone.
    init(_ answer: SimulatedPhone.Answer) {
        switch answer {
        case .accepted: self = .accepted
        case .unregistered(let since): self = .unregistered(since: since.millisecondsSince1970)
        case .refused(.deviceTokenNotForTopic):
            let text = "the token of the simulated phone is for another topic: see the report that it is from"
            self = .refused(.deviceToken(.deviceTokenNotForTopic, .deviceTokenOfOtherTopic, text))
        case .refused(let reason): self = .refused(reason)
        }
    }

    /// Returns the answer for a token that has not been valid since a time in milliseconds since 1970.
    fileprivate static func unregistered(since time: Int64) -> RequestEvaluator.Answer {
        let text = "the device token has not been valid since \(time) (milliseconds since 1970): stop sending to it"
        var answer = RequestEvaluator.Answer.refused(.deviceToken(.unregistered, .deviceTokenUnregistered, text))
        answer.timestamp = time
        return answer
    }
}
