// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The pushes of one request, which are answered together, or the job that expands into them.
struct PushGroup {
    /// The phones of an audience.
    struct Phones {
        /// The installations that the pushes are for, in the order of the pushes.
        var installations: [InstallationID] = []
        private var leftOut: [LeftOutReason: Int] = [:]

        /// Counts the users, or the installation, that are not among the members of an audience.
        init(missing audience: Audience, among members: [AudienceMember]) {
            let count =
                switch audience {
                case .users(let users):
                    // By their bytes: Swift takes some users for equal that are not.
                    Set(users.map { Array($0.utf8) }).subtracting(members.map { Array($0.user.utf8) }).count
                case .installation: members.isEmpty ? 1 : 0
                }
            if count > 0 { leftOut[.noInstallation] = count }
        }

        mutating func leaveOut(_ reason: LeftOutReason) { leftOut[reason, default: 0] += 1 }

        /// Returns the numbers of phones without a push by reason, those of the answers included.
        func leftOutCounts(with answers: [PushAnswer]) -> [LeftOutReason: Int] {
            answers.compactMap(\.leftOutReason).reduce(into: leftOut) { $0[$1, default: 0] += 1 }
        }
    }

    let pushes: [HashedPush]
    /// The phones that the pushes are for; nil for a request that names tokens or a channel, and with a job.
    let phones: Phones?
    /// The job that sends the pushes; nil when they are ``pushes``.
    var job: Job?

    /// Returns the response to a request with the answers to its pushes.
    ///
    /// The error is the first problem, when no push is stored.
    func response(_ answers: [PushAnswer], at time: Int64) throws(APIProblem) -> HTTP1Answer {
        // A request is refused if the limit of alerts leaves nothing, so that the client learns when to repeat it.
        let problems = answers.filter { answer in
            phones == nil || answer.leftOutReason == nil || answer.leftOutReason == .alertLimit
        }.compactMap(\.refusal)
        if var problem = problems.first, !answers.contains(where: \.isStored) {
            if let phones, problem.status == 429 {
                problem.extensions.append(JSONValue.Member("left-out", phones.leftOutCounts(with: answers).json))
            }
            throw problem
        }
        let body = json(answers, at: time)
        guard phones == nil, answers.count == 1 else {
            let hasEnded = phones != nil && answers.allSatisfy(\.hasEnded)
            return .json(body, status: hasEnded ? 200 : 202)
        }
        let fields: HTTPFields = ["content-type": "application/json", "location": "/v1/pushes/\(pushes[0].push.id)"]
        return .whole(HTTPResponse(status: answers[0].hasEnded ? 200 : 202, fields: fields, body: body.encoded()))
    }

    /// Returns the answers to the pushes as one value, those that are stored with the findings about their headers.
    func json(_ answers: [PushAnswer], at time: Int64) -> JSONValue {
        let all = PushAnswer.json(of: answers, about: pushes.first?.push, at: time)
        guard let phones else { return all.count == 1 ? all[0] : ["pushes": .array(all)] }
        var listed: [JSONValue] = []
        for (index, installation) in phones.installations.enumerated() where answers[index].leftOutReason == nil {
            let name = JSONValue.Member("installation", .string(installation.description))
            listed.append(.object((all[index].members ?? []) + [name]))
        }
        return ["pushes": .array(listed), "left-out": phones.leftOutCounts(with: answers).json]
    }
}

extension [LeftOutReason: Int] {
    /// The numbers by reason.
    var json: JSONValue {
        .object(
            LeftOutReason.allCases.compactMap { reason in
                self[reason].map { JSONValue.Member(reason.rawValue, .whole($0)) }
            }
        )
    }
}
