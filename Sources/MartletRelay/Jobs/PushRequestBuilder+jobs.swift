// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The jobs of requests to all installations that match an expression.
extension PushRequestBuilder {
    /// Returns the job of a request, which has a number in a batch; nil for a request without a job.
    ///
    /// The request is checked as a whole, because the pushes are built only when the job is expanded.
    mutating func job(of request: PushRequest, line: Int?) throws(APIProblem) -> Job? {
        guard let requested = request.audience, case .matching(let expression) = requested.target,
            let content = request.jobRequest
        else { return nil }
        let app = try app(of: request)
        _ = try requested.need(of: request)
        try checkTimes(of: request)
        let notBefore = request.notBefore ?? request.localDelivery?.first
        let start = max(now, notBefore ?? now)
        timeOfJob = start
        defer { timeOfJob = nil }
        try checkPayloads(of: request, in: app)
        let key = requestKey(ofLine: line)
        let id = request.id ?? key.flatMap { APNsID(app: app.name, idempotencyKey: $0, "job") }
        let fingerprint: [UInt8]
        do throws(CryptographyError) {
            fingerprint = try SHA256.hash(content)
        } catch {
            throw APIProblem(503, "the relay cannot hash the request: \(error)", retryAfter: 5)
        }
        // A push with a past expiration is attempted once, whenever it is stored.
        let end = request.expiration.flatMap { $0 > start / 1_000 && $0 <= Int64.max / 1_000 ? $0 * 1_000 : nil }
        return Job(
            app: app.name,
            id: id ?? APNsID(milliseconds: now, randomBits: (generator.next(), generator.next())),
            caller: caller.name,
            fingerprint: fingerprint,
            request: content,
            audience: expression.description,
            notBefore: notBefore,
            expiresAt: end
        )
    }

    /// Builds a push that is not sent, so that a mistake is reported also when no phone gets one.
    mutating func checkPush(of request: PushRequest, in app: RelayConfiguration.App) throws(APIProblem) {
        guard let token = try? DeviceToken(hex: "00"), let lane = app.lanes.first,
            let renderer = clients[lane]?.renderer
        else { return }
        let destination = request.destinations.first ?? .device(token)
        _ = try push(of: request, nil, to: destination, lane, app.bundleIDs[0], nil, renderer)
    }
}
