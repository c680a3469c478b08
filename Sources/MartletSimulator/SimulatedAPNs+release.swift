// SPDX-License-Identifier: Apache-2.0

public import Martlet
public import MartletCore

extension SimulatedAPNs {
    /// The settings for sending received pushes on to real devices.
    public struct Release: Sendable {
        /// The client that sends them, which the caller must close.
        ///
        /// It should not check pushes before sending or retry, so that the answer is the answer to this push.
        public var client: PushClient
        /// The host that the client sends to, such as `api.push.apple.com`, shown for confirmation.
        public var destination: String
        /// Apple's environment of the host.
        public var environment: Environment
        /// The only devices that pushes may be sent on to.
        public var deviceTokens: Set<DeviceToken>

        /// Creates settings for sending pushes on to these devices.
        public init(
            with client: PushClient,
            destination: String,
            environment: Environment,
            to deviceTokens: Set<DeviceToken>
        ) {
            self.client = client
            self.destination = destination
            self.environment = environment
            self.deviceTokens = deviceTokens
        }
    }
}
