// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension StoredJob {
    /// The reason why some installations get no push, although the job is not cancelled; nil for none.
    var problem: String? {
        guard isDamaged, cursor < highMark else { return nil }
        return "the stored request cannot be decrypted, so the installations that were not read yet get no push"
    }

    /// The job with its progress, for an answer of the API.
    var json: JSONValue {
        let ended = Outcome.State.allCases.compactMap { state in
            outcomes[state].map { JSONValue.Member(state.rawValue, .whole($0)) }
        }
        return .members([
            "id": .string("\(job.id)"), "app": .string(job.app), "state": .string(state.rawValue),
            "audience": .string(job.audience), "created-at": .whole(createdAt), "starts-at": .whole(job.notBefore),
            "matched": .whole(matched), "stored": .whole(stored), "left-out": leftOut.json,
            "waiting": .whole(max(0, unfinished)), "outcomes": .object(ended), "ended-at": .whole(endedAt),
            "problem": problem.map { .string($0) },
        ])
    }

    /// The answer to the request that has created the job.
    var answer: HTTP1Answer {
        let fields: HTTPFields = [
            "content-type": "application/json", "location": "/v1/apps/\(job.app)/jobs/\(job.id)",
        ]
        return .whole(HTTPResponse(status: endedAt == nil ? 202 : 200, fields: fields, body: json.encoded()))
    }
}

extension JobPush {
    /// The push for an answer of the API; with its user only for a key that may read users.
    func json(showsUser: Bool) -> JSONValue {
        let phone = JSONValue.members([
            "installation": installation.map { .string($0.description) },
            "user": showsUser ? user.map { JSONValue.string($0) } : nil,
        ])
        return .object((status.detailedJSON.members ?? []) + (phone.members ?? []))
    }
}
