// SPDX-License-Identifier: Apache-2.0

import MartletCore

@testable import LiveSurfaces

/// A relay as its protocol describes it, without limits.
struct ModelRelay {
    struct Installation: Hashable {
        let user: String
        var members: [MemberPath: MemberValue] = [:]

        /// The values of the tokens.
        var tokens: Set<MemberValue> {
            let others = members.values.compactMap { $0.activity?.token }
            return Set(members.filter { $0.key.isToken }.values).union(others.map { MemberValue.text($0) })
        }

        /// Removes tokens.
        fileprivate mutating func removeTokens(_ isRemoved: (MemberValue) -> Bool) {
            members = members.filter { !($0.key.isToken && isRemoved($0.value)) }.mapValues { value -> MemberValue in
                guard var activity = value.activity, let token = activity.token, isRemoved(.text(token)) else {
                    return value
                }
                activity.token = nil
                return .activity(activity)
            }
        }
    }

    /// The installations by their secrets.
    private(set) var installations: [String: Installation] = [:]
    /// The users of the tickets that are valid.
    private var tickets: [String: String] = [:]
    private var count = 0

    mutating func ticket(for user: String) -> String {
        count += 1
        tickets["ticket \(count)"] = user
        return "ticket \(count)"
    }

    /// Removes an installation, as a back end does.
    mutating func forget(_ secret: String) {
        installations[secret] = nil
    }

    /// Changes a member, as a back end does.
    mutating func set(_ value: MemberValue, at path: MemberPath, of secret: String) {
        installations[secret]?.members[path] = value
    }

    mutating func answer(_ request: InstallationRequest) -> InstallationAnswer {
        let credential = String(request.authorization.dropFirst("Bearer ".count))
        let body = (try? JSONReader.read(request.body)) ?? .null
        switch request.method {
        case "POST":
            guard let user = tickets.removeValue(forKey: credential) else { break }
            count += 1
            installations["secret \(count)"] = Installation(user: user)
            change("secret \(count)", by: body)
            return InstallationAnswer(status: 201, body: Array(#"{"secret":"secret \#(count)"}"#.utf8))
        case "PATCH":
            guard installations[credential] != nil else { break }
            change(credential, by: body)
            let members = installations[credential]?.members.mapValues(Optional.some) ?? [:]
            return InstallationAnswer(status: 200, body: members.mergePatch.encoded())
        default:
            guard installations.removeValue(forKey: credential) != nil else { break }
            return InstallationAnswer(status: 204, body: [])
        }
        return InstallationAnswer(status: 401, body: Array(#"{"detail":"enroll again"}"#.utf8))
    }

    private mutating func change(_ secret: String, by body: JSONValue) {
        guard var installation = installations[secret] else { return }
        let environment = body["environment"]?.stringValue.map(MemberValue.text)
        if let environment, installation.members[.environment] != environment {
            installation.removeTokens { _ in true }
        }
        let before = installation.tokens
        for member in body.members ?? [] { installation.apply(member.value, at: [member.name]) }
        let taken = installation.tokens.subtracting(before)
        installations = installations.mapValues { other in
            var other = other
            other.removeTokens { taken.contains($0) }
            return other
        }
        installations[secret] = installation
    }
}

extension ModelRelay.Installation {
    /// Applies a member of a JSON Merge Patch.
    fileprivate mutating func apply(_ value: JSONValue, at names: [String]) {
        switch value {
        case .object where names.count == 2 && names[0] == "activities":
            let path = MemberPath(names: names)
            var activity = members[path]?.activity ?? ReportedActivity(surface: "")
            activity.apply(value)
            members[path] = .activity(activity)
        case .string(let text): members[MemberPath(names: names)] = .text(text)
        case .bool(let flag): members[MemberPath(names: names)] = .flag(flag)
        case .object(let members): for member in members { apply(member.value, at: names + [member.name]) }
        case .null: members = members.filter { !$0.key.names.starts(with: names) }
        case .number, .array: break
        }
    }
}

extension ReportedActivity {
    /// Applies a change that removes nothing except the end.
    fileprivate mutating func apply(_ change: JSONValue) {
        surface = change["surface"]?.stringValue ?? surface
        startedAt = change["started-at"]?.integerValue ?? startedAt
        startedBy = change["started-by"]?.stringValue.flatMap(ActivityStarter.init(rawValue:)) ?? startedBy
        token = change["token"]?.stringValue ?? token
        if change["ended"] == JSONValue.null { end = nil }
        if let cause = change["ended"]?["cause"]?.stringValue.flatMap(ActivityEndCause.init(rawValue:)) {
            end = End(cause: cause, time: change["ended"]?["at"]?.integerValue ?? 0)
            token = nil
        }
    }
}
