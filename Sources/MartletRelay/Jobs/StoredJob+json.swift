// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension StoredJob {
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
