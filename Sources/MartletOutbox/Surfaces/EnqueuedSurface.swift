// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A request of a back end in SQL to store or to withdraw a surface, which is not checked yet.
package struct EnqueuedSurface: Sendable, Hashable {
    /// The number, in whose order requests are carried out.
    package let number: Int64
    /// The identifier, by which the back end finds the outcome of a refused request.
    package let id: APNsID
    package let app: String
    /// The identifier of the surface.
    package let surface: String
    /// The name of the caller: the role in the database.
    package let caller: String
    /// The JSON; nil to withdraw the surface.
    package let request: [UInt8]?
}

/// A request of a back end in SQL that breaks no rule.
package struct CheckedSurface: Sendable {
    package let request: EnqueuedSurface
    /// The surface to store; ignored if the request withdraws it.
    package var surface: Surface?

    package init(_ request: EnqueuedSurface, _ surface: Surface?) {
        self.request = request
        self.surface = surface
    }
}

/// A request of a back end in SQL that is refused.
package struct RefusedSurface: Sendable {
    package let request: EnqueuedSurface
    /// The outcome, of which the state `refused`, the status and the reason are stored.
    package let outcome: Outcome
    /// The environment of the outcome.
    package let environment: PushEnvironment

    package init(_ request: EnqueuedSurface, _ outcome: Outcome, in environment: PushEnvironment) {
        self.request = request
        self.outcome = outcome
        self.environment = environment
    }
}

/// The requests of back ends in SQL about surfaces, which a relay checks after their commit.
package protocol EnqueuedSurfaceStore: Sendable {
    /// Returns the oldest requests, in their order.
    ///
    /// The apps take turns, so that many requests of one do not delay those of another.
    ///
    /// - Parameters:
    ///   - app: The app; nil for all.
    ///   - limit: The maximum number of requests.
    /// - Returns: The requests. When their number is the limit, more may be left.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func enqueuedSurfaces(of app: String?, limit: Int) async throws(OutboxError) -> [EnqueuedSurface]

    /// Carries out requests in one transaction, each with its condition, and removes those that can be carried out.
    ///
    /// The requests of an app are carried out in their order. One that follows another request about the same surface
    /// that cannot be carried out is left to a call after the removal of that one.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - limit: The maximum number of surfaces of an app that are not withdrawn.
    ///   - now: The time.
    /// - Returns: The change of each request, as by ``SurfaceStore``; nil for one that is left, or was removed before.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func carryOut(
        _ requests: [CheckedSurface],
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> [SurfaceChange?]

    /// Refuses requests in one transaction: removes them, and stores an outcome with the identifier of each.
    ///
    /// - Parameters:
    ///   - refusals: The requests with their outcomes.
    ///   - now: The time.
    /// - Returns: The status of each as of a push, without requests that were removed before.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func refuse(_ refusals: [RefusedSurface], at now: Int64) async throws(OutboxError) -> [PushStatus]
}
