// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The pushes of requests, with those to users and installations.
extension PushRequestBuilder {
    /// The audience of a request, with its installations once they are looked up.
    private struct FoundAudience {
        let audience: Audience
        let app: RelayConfiguration.App
        let need: PushNeed
        var members: [AudienceMember] = []
    }

    /// Builds the pushes of a request, as ``groups(of:firstLine:by:waitingForRoom:)``.
    mutating func group(of request: PushRequest, by intake: Intake) async throws(APIProblem) -> PushGroup {
        try await groups(of: [.success(request)], by: intake)[0].get()
    }

    /// Builds the pushes of requests, those to audiences with the installations of the outbox.
    ///
    /// The installations of all audiences are looked up together. The lines of a batch may wait for capacity.
    ///
    /// - Parameters:
    ///   - requests: The requests, or the errors in their place.
    ///   - firstLine: The number of the first of several consecutive lines of a batch; nil without a batch.
    ///   - intake: The intake, whose bounds the look-ups keep to.
    ///   - limit: The maximum time to wait for capacity.
    /// - Returns: The pushes of each request. The error is that the caller may not send them, or that Apple would
    ///   refuse one of them.
    mutating func groups(
        of requests: [Result<PushRequest, APIProblem>],
        firstLine: Int? = nil,
        by intake: Intake,
        waitingForRoom limit: Duration = .zero
    ) async -> [Result<PushGroup, APIProblem>] {
        let audiences = await audiences(of: requests, by: intake, waitingForRoom: limit)
        var groups: [Result<PushGroup, APIProblem>] = []
        // The number of pushes that were built in this turn of the caller.
        var built = 0
        for (index, request) in requests.enumerated() {
            let line = firstLine.map { $0 + index }
            if built >= LongRequests.destinationsPerTurn {
                await intake.longRequests.inTurn(of: caller.name) {}
                built = 0
            }
            do throws(APIProblem) {
                let read = try request.get()
                let found = try audiences[index]?.get()
                let group = try await group(of: read, line: line, found, by: intake)
                groups.append(.success(group))
                built += group.pushes.count
            } catch {
                groups.append(.failure(error))
            }
        }
        await refuseConflicts(in: &groups, of: requests, by: intake, waitingForRoom: limit)
        return groups
    }

    /// Looks up the installations of the requests to audiences, by the positions of the requests.
    private func audiences(
        of requests: [Result<PushRequest, APIProblem>],
        by intake: Intake,
        waitingForRoom limit: Duration
    ) async -> [Int: Result<FoundAudience, APIProblem>] {
        var audiences: [Int: Result<FoundAudience, APIProblem>] = [:]
        var queries: [String: [AudienceQuery]] = [:]
        var positions: [String: [Int]] = [:]
        for (index, request) in requests.enumerated() {
            guard case .success(let request) = request, let requested = request.audience,
                case .audience(let named) = requested.target
            else { continue }
            do throws(APIProblem) {
                let audience = FoundAudience(
                    audience: named,
                    app: try app(of: request),
                    need: try requested.need(of: request)
                )
                audiences[index] = .success(audience)
                queries[audience.app.name, default: []].append(AudienceQuery(audience.audience, audience.need.slot))
                positions[audience.app.name, default: []].append(index)
            } catch {
                audiences[index] = .failure(error)
            }
        }
        guard !queries.isEmpty else { return audiences }
        let found = await intake.members(of: queries, from: caller, waitingForRoom: limit)
        for (app, positions) in positions {
            for (place, index) in positions.enumerated() {
                switch found {
                case .success(let members):
                    guard case .success(var audience)? = audiences[index] else { continue }
                    audience.members = members[app]?[place] ?? []
                    audiences[index] = .success(audience)
                case .failure(let error): audiences[index] = .failure(APIProblem(error))
                }
            }
        }
        return audiences
    }

    /// Builds the pushes, or the job, of a request, which has a number in a batch.
    private mutating func group(
        of request: PushRequest,
        line: Int?,
        _ found: FoundAudience?,
        by intake: Intake
    ) async throws(APIProblem) -> PushGroup {
        guard let found else {
            if let job = try job(of: request, line: line) { return PushGroup(pushes: [], phones: nil, job: job) }
            let built = try await self.pushes(of: request, line: line, inTurns: intake.longRequests)
            return PushGroup(pushes: built, phones: nil)
        }
        let (app, need) = (found.app, found.need)
        try checkTimes(of: request)
        let key = request.id?.description ?? requestKey(ofLine: line)
        let sourceRequest = request.sourceRequest
        var requests = PersonalRequests(request)
        var zones = ZoneLookup()
        var phones = PushGroup.Phones(missing: found.audience, among: found.members)
        let alertLimit = alertLimit(of: app, request, key)
        var pushes: [OutboxPush] = []
        if request.isPersonal { try checkPayloads(of: request, in: app) }
        for member in found.members {
            let lane = Lane(app: app.name, environment: member.environment)
            let reason = need.leftOutReason(of: member, in: app)
            guard reason == nil, let renderer = clients[lane]?.renderer, let token = member.token else {
                phones.leaveOut(reason ?? .notConfigured)
                continue
            }
            guard let own = requests.request(for: member)?.scheduled(for: member, &zones) else {
                phones.leaveOut(.noValues)
                continue
            }
            let place = member.installation.description
            let id = key.flatMap { APNsID(app: app.name, idempotencyKey: $0, place) }
            var push = try push(of: own, sourceRequest, to: .device(token), lane, member.bundleID, id, renderer)
            push.user = member.user
            push.count(towards: alertLimit)
            if let reason = push.wait(for: app.quietHours, in: member.timeZone, &zones, at: now) {
                phones.leaveOut(reason)
                continue
            }
            pushes.append(push)
            phones.installations.append(member.installation)
        }
        // A mistake is reported also when no phone gets the push. Snapshots were checked when they were read.
        if pushes.isEmpty, case .payload = request.content { try checkPush(of: request, in: app) }
        return PushGroup(pushes: pushes.map(HashedPush.init), phones: phones)
    }

    /// Builds the pushes of a request that names tokens or a channel, those of a long list in several turns of the
    /// caller.
    private mutating func pushes(
        of request: PushRequest,
        line: Int?,
        inTurns longRequests: LongRequests
    ) async throws(APIProblem) -> [HashedPush] {
        let (count, step) = (request.destinations.count, LongRequests.destinationsPerTurn)
        var pushes: [HashedPush] = []
        pushes.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: step) {
            if start > 0 { await longRequests.inTurn(of: caller.name) {} }
            let places = start..<min(start + step, count)
            let built = try self.pushes(of: request, line: line, at: places)
            pushes += built.map { HashedPush($0) }
        }
        return pushes
    }

    /// The limit that the alerts of a request count towards.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - request: The request, of which only a repetition with the same content counts once.
    ///   - key: The text from which the identifiers of the request are derived; nil for a request that is not repeated.
    /// - Returns: The limit for all phones of the request; nil for an app without one.
    private mutating func alertLimit(
        of app: RelayConfiguration.App,
        _ request: PushRequest,
        _ key: String?
    ) -> AlertLimit? {
        guard let limit = app.alertsPerDay else { return nil }
        var repeated: APNsID?
        if let key {
            let content = Array("\(app.name)\n\(key)\nalert\n".utf8) + (request.sourceRequest ?? request.contentHash)
            repeated = (try? SHA256.hash(content)).map { APNsID(hash: $0) }
        }
        let random = (generator.next(), generator.next())
        return AlertLimit(perDay: limit, request: repeated ?? APNsID(milliseconds: now, randomBits: random))
    }

    /// Refuses the requests to audiences of which a push is stored with another content: otherwise only the phones that
    /// have enrolled since would get the new one.
    private func refuseConflicts(
        in groups: inout [Result<PushGroup, APIProblem>],
        of requests: [Result<PushRequest, APIProblem>],
        by intake: Intake,
        waitingForRoom limit: Duration
    ) async {
        var checked: [(index: Int, places: Range<Int>)] = []
        var pushes: [HashedPush] = []
        for (index, group) in groups.enumerated() {
            guard case .success(let group) = group, group.phones != nil,
                group.pushes.first?.push.hasCallersID ?? false
            else { continue }
            let start = pushes.count
            pushes += group.pushes
            checked.append((index, start..<pushes.count))
        }
        guard !pushes.isEmpty else { return }
        let conflicts = await intake.conflicts(with: pushes, from: caller, waitingForRoom: limit)
        for (index, places) in checked {
            switch conflicts {
            case .success(let found):
                guard places.contains(where: found.contains) else { continue }
                let id = (try? requests[index].get())?.id
                groups[index] = .failure(
                    APIProblem(
                        422,
                        "a push of this request was stored with another content: choose a new Idempotency-Key or id",
                        at: id == nil ? nil : "/id"
                    )
                )
            case .failure(let error): groups[index] = .failure(APIProblem(error))
            }
        }
    }
}
