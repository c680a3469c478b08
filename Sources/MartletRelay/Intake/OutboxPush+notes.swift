// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension OutboxPush {
    /// Returns the findings that are reported about a push that is stored, at a time in milliseconds since 1970.
    func notes(at now: Int64) -> [PushLint.Finding] {
        let date = Date(millisecondsSince1970: now)
        return switch destination {
        case .device: PushLint.notes(headers: headers, at: date) + PushLint.notes(payload: payload)
        case .channel(let channel, let bundle):
            PushLint.notes(broadcastTo: bundle, channel: channel.rawValue, headers: headers, at: date)
        }
    }
}
