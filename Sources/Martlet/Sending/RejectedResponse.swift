// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A response of APNs that does not accept a request ("Handling notification responses from APNs").
struct RejectedResponse {
    /// The difference in seconds between two clocks that is too large for a network delay.
    private static let tolerance: Int64 = 60

    /// The maximum delay in seconds that is reported to the caller: APNs stores no push for longer than 30 days, and a
    /// proxy may have sent the value.
    private static let longestWait: Int64 = 30 * 86_400

    let stream: HTTP2Stream
    let clock: WallClock

    /// The time by which this machine's clock is ahead of the server's; nil when it is small, or the server sends no
    /// date.
    var clockSkew: Duration? {
        guard let date = stream.fields["date"].flatMap(HTTPDate.seconds) else { return nil }
        let skew = clock.secondsSince1970() - date
        return abs(skew) > RejectedResponse.tolerance ? .seconds(skew) : nil
    }

    func refusal(of id: APNsID) -> APNsError {
        let status = stream.fields.status
        let id = stream.fields.answeredID ?? id
        var error = APNsError.Properties(code: .refused, description: "", outcome: .answered, id: id, status: status)
        error.retryAfter = stream.fields["retry-after"].flatMap(wait)
        guard let answer = try? JSONReader.read(stream.body), let reason = answer["reason"]?.stringValue else {
            error.code = .unreadableAnswer
            error.description =
                "the server answered \(status) without a reason in JSON: is the server APNs?"
            // A response that is not from APNs does not state the outcome of the push.
            if status >= 500, status != 503 { error.outcome = .unknown }
            return APNsError(error)
        }
        // One of Apple's tables has "Service Unavailable" with a space.
        let known = APNsReason(rawValue: reason.filter { $0 != " " })
        error.reason = known
        error.unregisteredAt = answer["timestamp"]?.integerValue.map(Date.init(millisecondsSince1970:))
        error.description = APNsError.description(status: status, known)
        if status == 403, let skew = clockSkew {
            let way = skew > .zero ? "ahead of" : "behind"
            error.description += "; this machine's clock is \(abs(skew.components.seconds)) s \(way) the server's"
        }
        return APNsError(error)
    }

    /// Parses the value of `retry-after`: seconds, or a date (RFC 9110 §10.2.3).
    private func wait(_ text: String) -> Duration? {
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, RejectedResponse.longestWait)) }
        guard let end = HTTPDate.seconds(text) else { return nil }
        let start = stream.fields["date"].flatMap(HTTPDate.seconds) ?? clock.secondsSince1970()
        return .seconds(min(max(0, end - start), RejectedResponse.longestWait))
    }
}

extension HTTP2Stream {
    /// Whether the response accepts the request.
    var isAcceptance: Bool { (200...299).contains(fields.status) }
}

extension HTTPFields {
    /// The request's identifier in the response; nil when it has none.
    var answeredID: APNsID? {
        let text = bytes(of: "apns-id") ?? bytes(of: "apns-request-id")
        return text.flatMap { try? APNsID(utf8: $0) }
    }
}
