internal import APNs
internal import Wire

/// Reads what APNs answers ("Handling notification responses from APNs").
enum APNsAnswer {
    /// What APNs accepted, or why it did not.
    static func result(of stream: HTTP2Stream, for id: APNsID) -> Result<Acceptance, APNsError> {
        let status = stream.fields.status
        guard !(200...299).contains(status) else {
            return .success(Acceptance(fields: stream.fields, body: stream.body))
        }
        let sent = Acceptance(fields: stream.fields).id(or: id)
        return .failure(refusal(status: status, id: sent, stream))
    }

    private static func refusal(status: Int, id: APNsID, _ stream: HTTP2Stream) -> APNsError {
        var error = APNsError(.refused, id: id, description: "", outcome: .answered)
        error.status = status
        error.retryAfter = stream.fields["retry-after"].flatMap { Int64($0) }.map { .seconds($0) }
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
        error.timestamp = answer["timestamp"]?.integerValue
        error.description = "APNs answered \(status) \(reason)"
        if let explanation = error.reason?.explanation { error.description += ": \(explanation)" }
        return error
    }
}
