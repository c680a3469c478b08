// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The checks of a client or a relay before it sends a push, without parsing the payload.
extension PushLint {
    /// Returns the reason for which a push is not sent; applies the rules of ``firstRefusal(headers:payload:)``, and
    /// those whose mistake APNs accepts.
    ///
    /// - Parameters:
    ///   - headers: The headers, as they are sent.
    ///   - payload: The payload.
    /// - Returns: The reason of the first rule that is broken; nil if the push may be sent.
    package static func firstReasonNotToSend(headers: PushHeaders, payload: [UInt8]) -> APNsReason? {
        firstReason(headers, payload, \.reasonNotToSend)
    }

    /// Returns the reason for which a push is not sent because of its headers.
    ///
    /// - Parameter headers: The headers, as they are sent.
    /// - Returns: The reason of the first rule that is broken; nil if there is none.
    package static func firstReasonNotToSend(headers: PushHeaders) -> APNsReason? {
        firstReason(headers, of: PushFacts(headers, at: nil), \.reasonNotToSend)
    }

    /// Returns the reason for which a broadcast is not sent because of its headers.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers.
    /// - Returns: The reason of the first rule that is broken; nil if there is none.
    package static func firstReasonNotToSend(
        broadcastTo app: String,
        channel: String?,
        headers: PushHeaders
    ) -> APNsReason? {
        firstReason(broadcastTo: app, channel, headers, \.reasonNotToSend)
    }

    /// Returns the findings about the headers of a push that is sent.
    ///
    /// - Parameters:
    ///   - headers: The headers, as they are sent.
    ///   - date: The time of sending.
    /// - Returns: The findings in the order of the rules.
    package static func notes(headers: PushHeaders, at date: Date) -> [Finding] {
        let push = PushFacts(headers, at: date.secondsSince1970)
        return HeaderRules.checks.compactMap { $0(headers, push) }.filter { $0.reasonNotToSend == nil }
    }

    /// Returns the finding about a badge below 0 in the payload of a push that is sent; other findings about a payload
    /// may be intended.
    ///
    /// Only a payload with the text of such a badge is parsed.
    ///
    /// - Parameter payload: The payload.
    /// - Returns: The finding; empty if there is none.
    package static func notes(payload: [UInt8]) -> [Finding] {
        let mayHaveNote = payload.indices.contains { payload[$0] == UInt8(ascii: "-") && isBadge(payload[..<$0]) }
        guard mayHaveNote, let aps = (try? JSONReader.readPayload(payload))?["aps"] else { return [] }
        return AlertRules.badge(aps).map { [$0] } ?? []
    }

    /// Returns whether a text ends with the name of the badge and a colon, which may be followed by white space.
    private static func isBadge(_ text: ArraySlice<UInt8>) -> Bool {
        let space = " \t\r\n".utf8
        guard let colon = text.lastIndex(where: { !space.contains($0) }), text[colon] == UInt8(ascii: ":"),
            let end = text[..<colon].lastIndex(where: { !space.contains($0) })
        else { return false }
        let name = #""badge""#.utf8
        return text[...end].suffix(name.count).elementsEqual(name)
    }

    /// Returns the findings about the headers of a broadcast that is sent.
    ///
    /// - Parameters:
    ///   - app: The app in the path.
    ///   - channel: `apns-channel-id`.
    ///   - headers: The other headers, as they are sent.
    ///   - date: The time of sending.
    /// - Returns: The findings in the order of the rules.
    package static func notes(
        broadcastTo app: String,
        channel: String?,
        headers: PushHeaders,
        at date: Date
    ) -> [Finding] {
        headerFindings(broadcastTo: app, channel: channel, headers, at: date.secondsSince1970)
            .compactMap(\.self).filter { $0.reasonNotToSend == nil }
    }
}
