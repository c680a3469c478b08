// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletTransport

/// The HTTP interface of a simulator, as the commands use it.
struct SimulatorInterface: Sendable {
    private static let timeout = Duration.seconds(10)

    private let address: InterfaceAddress
    private let tls: TLSContext?
    private let loop: EventLoop

    init(_ address: InterfaceAddress, on loop: EventLoop) throws {
        self.address = address
        self.loop = loop
        tls = address.server.isEncrypted ? try TLSContext.http1Client(authorities: nil) : nil
    }

    /// Creates a client for the simulator, which trusts its certificate and does not retry.
    func client() async throws -> PushClient {
        let info = try await get("/api/v1/info")
        guard let url = info["apns"]?.stringValue, let apns = try? APNsEndpoint(argument: url) else {
            throw CommandError("\(address) is not the HTTP interface of a simulator")
        }
        var configuration = PushClient.Configuration()
        configuration.retry = RetryPolicy.none
        if apns.isEncrypted {
            let certificate = try await answer("/api/v1/ca.pem")
            configuration.additionalAuthorities = String(decoding: certificate, as: UTF8.self)
        }
        let host = address.server.host
        let channels = info["channel-port"]?.integerValue.flatMap(UInt16.init(exactly:))
        let endpoint = APNsEndpoint(
            host: host,
            port: apns.port,
            isEncrypted: apns.isEncrypted,
            channels: channels.map { APNsEndpoint.Address(host: host, port: $0) }
        )
        return try PushClient(endpoint, authentication: .token(.ephemeral()), configuration: configuration)
    }

    /// Returns a push that the simulator received, with its verdict.
    func push(_ id: APNsID) async throws -> JSONValue {
        try await get("/api/v1/pushes/\(id)")
    }

    /// Returns the token of the Live Activity that was started last on a device.
    func activity(startedOn device: DeviceToken) async throws -> DeviceToken {
        let state = try await get("/api/v1/devices/\(device.hex)")
        let hex = state["started-activities"]?.elements?.last?["token"]?.stringValue
        guard let hex, let token = try? DeviceToken(hex: hex) else {
            throw CommandError("the simulator has no Live Activity of the device \(device)")
        }
        return token
    }

    private func get(_ path: String) async throws -> JSONValue {
        let body = try await answer(path)
        guard let json = try? JSONReader.read(body) else {
            throw CommandError("\(address) is not the HTTP interface of a simulator")
        }
        return json
    }

    private func answer(_ path: String) async throws -> [UInt8] {
        let call = HTTP1Call(host: address.server.host, port: address.server.port, tls: tls)
        let answer: HTTPResponse
        do throws(TransportError) {
            answer = try await call.send("GET", address.path + path, within: SimulatorInterface.timeout, on: loop)
        } catch {
            throw SimulatorConnectionError(cause: error)
        }
        guard answer.status == 200 else {
            let detail = (try? JSONReader.read(answer.body))?["detail"]?.stringValue.map { ": \($0)" } ?? ""
            throw CommandError("the simulator at \(address) answers \(answer.status)\(detail)")
        }
        return answer.body
    }
}

/// An error for a simulator that does not answer.
struct SimulatorConnectionError: Error, CustomStringConvertible {
    let cause: TransportError

    var description: String { "\(cause); start martlet simulate, or give the address of its HTTP interface with --url" }
}
