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

/// The requests of back ends in SQL about surfaces, which a relay checks after their commit.
package protocol EnqueuedSurfaceStore: Sendable {
    /// Returns the oldest requests, in their order.
    func enqueuedSurfaces(limit: Int) async throws(OutboxError) -> [EnqueuedSurface]

    /// Carries out a request with its condition, and removes it unless the change is refused.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - surface: The surface to store; ignored if the request withdraws it.
    ///   - limit: The maximum number of surfaces of the app that are not withdrawn.
    ///   - now: The time.
    /// - Returns: The change, as by ``SurfaceStore``; nil for a request that was removed before.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func carryOut(
        _ request: EnqueuedSurface,
        with surface: Surface?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange?

    /// Refuses a request: removes it, and stores an outcome with its identifier.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - outcome: The outcome, of which the state `refused`, the status and the reason are stored.
    ///   - environment: The environment of the outcome.
    ///   - now: The time.
    /// - Returns: The status as of a push; nil for a request that was removed before.
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func refuse(
        _ request: EnqueuedSurface,
        with outcome: Outcome,
        in environment: PushEnvironment,
        at now: Int64
    ) async throws(OutboxError) -> PushStatus?
}
