// SPDX-License-Identifier: Apache-2.0

public import Martlet

/// Runs a test with a simulator and a client that sends to it, and stops both when the test returns or throws.
///
/// ```swift
/// try await withSimulatedAPNs { apns, client in
///     try await client.send(.alert("Ready"), to: token, topic: "com.example.app")
///     let pushes = await apns.pushes
/// }
/// ```
///
/// - Parameters:
///   - configuration: The configuration of the simulator; see ``SimulatedAPNs/start(_:)``.
///   - body: The test.
/// - Returns: The result of the test.
/// - Throws: ``SimulatorError`` when the simulator does not start, `APNsError` when the client cannot be created, and
///   the errors of the test.
public func withSimulatedAPNs<Result>(
    _ configuration: SimulatedAPNs.Configuration = SimulatedAPNs.Configuration(),
    _ body: (_ apns: SimulatedAPNs, _ client: PushClient) async throws -> Result
) async throws -> Result {
    let apns = try await SimulatedAPNs.start(configuration)
    do {
        let client = try await PushClient(
            apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        do {
            let result = try await body(apns, client)
            await client.close()
            await apns.stop()
            return result
        } catch {
            await client.close()
            throw error
        }
    } catch {
        await apns.stop()
        throw error
    }
}
