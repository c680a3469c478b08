// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The effects of pushes that are neither notifications nor for Live Activities, by push type ("Sending notification
/// requests to APNs"), and of pushes for Wallet passes.
enum AccessoryPresentation {
    /// Returns the effect of a push, and whether the push is silent by design.
    static func parts(_ headers: PushHeaders, _ payload: JSONValue?) -> (isSilent: Bool, [PushVerdict.Part]) {
        guard !headers.isForWalletPass else {
            let effect = "Wallet fetches the new version of the pass"
            return (false, [PushVerdict.Part(effect, at: .header("apns-topic"))])
        }
        let type = headers.resolvedPushType.map { PushType(rawValue: $0.rawValue.lowercased()) }
        let place = PushLint.Place.header("apns-push-type")
        let effect: String
        switch type {
        case .background?: return (true, background(payload?["aps"]))
        case .widgets?: return (false, [reload("widgets", payload?["aps"])])
        case .controls?: return (false, [reload("controls", payload?["aps"])])
        case .voip?: effect = "the app must report a call"
        case .complication?: effect = "complication updates"
        case .fileProvider?: effect = "file provider checks for changes"
        case .location?: effect = "location is requested"
        case .mdm?: effect = "device contacts its management server"
        case .pushToTalk?: effect = "the app handles Push to Talk"
        case .accessory?: effect = "accessory receives it"
        default: effect = "nothing to show"
        }
        return (false, [PushVerdict.Part(effect, at: place)])
    }

    private static func background(_ aps: JSONValue?) -> [PushVerdict.Part] {
        let place = PushLint.Place.aps("content-available")
        guard !NotificationPresentation.wakesApp(aps) else { return [PushVerdict.Part("wakes the app", at: place)] }
        let cause = aps?["content-available"] == nil ? "is missing" : "is not 1"
        return [PushVerdict.Part("does not wake the app", "aps.content-available \(cause)", at: place)]
    }

    private static func reload(_ name: String, _ aps: JSONValue?) -> PushVerdict.Part {
        let place = PushLint.Place.aps("content-changed")
        guard aps?["content-changed"] != true else { return PushVerdict.Part("\(name) reload", at: place) }
        let cause = aps?["content-changed"] == nil ? "is missing" : "is not true"
        return PushVerdict.Part("\(name) do not reload", "aps.content-changed \(cause)", at: place)
    }
}
