internal import APNs
internal import Wire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads why APNs refuses a request ("Handling notification responses from APNs").
struct APNsAnswer {
    /// A difference between two clocks that no network explains.
    private static let tolerance: Int64 = 60

    /// The longest wait that is passed on, in seconds: APNs stores no push for longer than 30 days, and anything on the
    /// way may have written the number.
    private static let longestWait: Int64 = 30 * 86_400

    let stream: HTTP2Stream
    /// This machine's clock.
    let clock: WallClock

    /// How far this machine's clock is ahead of the server's; nil when that is little, or the server does not say.
    var clockSkew: Duration? {
        guard let date = stream.fields["date"].flatMap(HTTPDate.seconds) else { return nil }
        let skew = clock.secondsSince1970() - date
        return abs(skew) > APNsAnswer.tolerance ? .seconds(skew) : nil
    }

    /// Why APNs did not accept the request of this identifier.
    func refusal(of id: APNsID) -> APNsError {
        let status = stream.fields.status
        var error = APNsError(
            .refused,
            id: stream.fields.answeredID ?? id,
            description: "",
            outcome: .answered
        )
        error.status = status
        error.retryAfter = stream.fields["retry-after"].flatMap(wait)
        guard let answer = try? JSONReader.read(stream.body), let reason = answer["reason"]?.stringValue else {
            error.code = .unreadableAnswer
            error.description =
                "the server answered \(status) without a reason in JSON, as APNs would give: is it APNs?"
            // An answer that is not APNs' own says nothing about what became of the push.
            if status >= 500, status != 503 { error.outcome = .unknown }
            return error
        }
        // One of Apple's tables writes "Service Unavailable".
        error.reason = Reason(rawValue: reason.filter { $0 != " " })
        error.unregisteredAt = answer["timestamp"]?.integerValue.map(Date.init(millisecondsSince1970:))
        error.description = "APNs answered \(status) \(reason)"
        if let explanation = error.reason?.explanation { error.description += ": \(explanation)" }
        if status == 403, let skew = clockSkew {
            let way = skew > .zero ? "ahead of" : "behind"
            error.description += "; this machine's clock is \(abs(skew.components.seconds)) s \(way) the server's"
        }
        return error
    }

    /// The value of `retry-after`: seconds, or a date (RFC 9110 §10.2.3).
    private func wait(_ text: String) -> Duration? {
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, APNsAnswer.longestWait)) }
        guard let end = HTTPDate.seconds(text) else { return nil }
        let start = stream.fields["date"].flatMap(HTTPDate.seconds) ?? clock.secondsSince1970()
        return .seconds(min(max(0, end - start), APNsAnswer.longestWait))
    }
}

extension HTTP2Stream {
    /// Whether APNs accepts the request.
    var isAcceptance: Bool { (200...299).contains(fields.status) }
}

extension HTTPFields {
    /// The request's identifier, as APNs returned it; nil when it returned none.
    var answeredID: APNsID? {
        let text = bytes(of: "apns-id") ?? bytes(of: "apns-request-id")
        return text.flatMap { try? APNsID(utf8: $0) }
    }
}
