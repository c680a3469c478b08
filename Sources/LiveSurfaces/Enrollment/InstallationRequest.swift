// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A request of an app to a relay, about its installation.
public struct InstallationRequest: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    enum Purpose: Sendable, Hashable {
        /// An enrollment as a user, with these members.
        case enrollment(user: String, [MemberPath: MemberValue])
        /// A change of these members; nil removes one.
        case report([MemberPath: MemberValue?])
        case removal
        /// The read of the surfaces that the installation shall show.
        case surfaces
    }

    let purpose: Purpose
    /// The ticket of an enrollment; otherwise the secret of the installation.
    let credential: String
    /// The body in JSON; empty if the request has none.
    public let body: [UInt8]

    init(_ purpose: Purpose, credential: String) {
        self.purpose = purpose
        self.credential = credential
        body =
            switch purpose {
            case .enrollment(_, let members): members.mapValues(Optional.some).mergePatch.encoded()
            case .report(let changes): changes.mergePatch.encoded()
            case .removal, .surfaces: []
            }
    }

    /// The path at the relay: `/v1/installation` or `/v1/installation/surfaces`.
    public var path: String { purpose == .surfaces ? "/v1/installation/surfaces" : "/v1/installation" }

    /// The method: `POST`, `PATCH`, `DELETE` or `GET`.
    public var method: String {
        switch purpose {
        case .enrollment: "POST"
        case .report: "PATCH"
        case .removal: "DELETE"
        case .surfaces: "GET"
        }
    }

    /// The value of the header field `authorization`, which is secret.
    public var authorization: String { "Bearer \(credential)" }

    /// The method and the size, without the credential and the tokens.
    public var description: String { "\(method) \(path) (\(body.count.counted("byte")))" }

    /// A mirror without the credential and the tokens, so that dumps do not contain them.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension InstallationRequest {
    /// Sends the request, and returns the snapshots in the answer.
    func snapshots(through send: @escaping InstallationClient.Send) async throws -> [SurfaceSnapshot] {
        let answer = try await RequestTimeout.bounded { try await send(self) }
        guard answer.status == 200 else { throw RefusedInstallationRequest(answer: answer) }
        return answer.snapshots
    }
}

/// An answer of a relay to an ``InstallationRequest``.
public struct InstallationAnswer: Sendable, CustomStringConvertible, CustomReflectable {
    /// The status of HTTP.
    public let status: Int
    /// The delay in seconds that the header field `retry-after` asks for; nil if it is absent or a date.
    public let retryAfter: Int?
    let json: JSONValue

    /// Creates an answer.
    ///
    /// - Parameters:
    ///   - status: The status of HTTP.
    ///   - retryAfter: The value of the header field `retry-after`; nil, the default, if it is absent.
    ///   - body: The body; one that is not JSON, or longer than 4 MB, counts as absent.
    public init(status: Int, retryAfter: String? = nil, body: [UInt8]) {
        self.status = status
        self.retryAfter = retryAfter.flatMap { Int($0) }
        json = (try? JSONReader.read(body)) ?? .null
    }

    /// Whether the relay would refuse the same request again, because of its members.
    var isRefusal: Bool { [400, 413, 422].contains(status) }

    /// The JSON Pointers to the members that break a rule.
    var pointers: [String] { json["errors"]?.elements?.compactMap { $0["pointer"]?.stringValue } ?? [] }

    /// The status and the relay's description of a problem.
    public var description: String {
        "the relay answered \(status)" + (json["detail"]?.stringValue.map { ": \($0)" } ?? "")
    }

    /// A mirror without the body, which may contain a secret.
    public var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

extension InstallationAnswer {
    /// The snapshots of the surfaces in the answer, without those that this module does not know.
    var snapshots: [SurfaceSnapshot] {
        let all = (json["surfaces"]?.elements ?? []).flatMap { $0["snapshots"]?.elements ?? [] }
        return all.compactMap { (snapshot) -> SurfaceSnapshot? in
            guard case .snapshot(let known, _)? = try? SurfaceSnapshot.parse(received: snapshot.encoded()) else {
                return nil
            }
            return known
        }
    }
}

/// An error for a read of an ``InstallationClient`` that the relay did not answer with status 200.
public struct RefusedInstallationRequest: Error, Sendable, CustomStringConvertible {
    /// The answer: with status 401 the installation was removed, and the client enrolls again with its next report.
    public let answer: InstallationAnswer

    /// The status and the relay's description of the problem.
    public var description: String { answer.description }
}

/// A place for the state of an ``InstallationClient``, which contains the secret of the installation.
///
/// It must not be copied to another phone, because both phones would then share one installation. `KeychainStorage`
/// fulfils that.
public protocol InstallationStorage: Sendable {
    /// Reads the state that was saved last.
    ///
    /// - Returns: The state; nil if there is none.
    /// - Throws: An error if the state cannot be read at the moment, as before the first unlock of the phone.
    func load() throws -> [UInt8]?

    /// Replaces the state.
    ///
    /// - Parameter state: The new state.
    /// - Throws: An error if the state cannot be saved.
    func save(_ state: [UInt8]) throws
}
