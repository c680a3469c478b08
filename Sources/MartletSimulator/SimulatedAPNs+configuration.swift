// SPDX-License-Identifier: Apache-2.0

extension SimulatedAPNs {
    /// The environments of APNs; a device token belongs to one.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// For apps run from Xcode.
        case development
        /// For all other apps.
        case production
    }

    /// The addresses, certificate authority and limits of a simulator.
    public struct Configuration: Sendable {
        /// The address to listen on; `localhost`, the default, for 127.0.0.1 and, where there is IPv6, `::1`.
        public var host: String
        /// The port that answers as APNs; 0, the default, for any free port.
        public var port: UInt16
        /// A separate port for managing channels, as Apple has it; 0 for any free port; nil, the default, to manage
        /// channels on the port that answers as APNs.
        public var channelPort: UInt16?
        /// The port of the HTTP interface; 0 for any free port; nil, the default, for none.
        public var inboxPort: UInt16?
        /// Whether clients use TLS, as with Apple, or HTTP/2 without TLS with prior knowledge; true by default.
        public var isEncrypted: Bool
        /// The environment of the simulator; development by default.
        public var environment: Environment
        /// The maximum number of stored pushes; 1 000 by default.
        public var storedPushes: Int
        /// The time for which a push is stored; seven days by default.
        public var storageTime: Duration
        /// The path of a SQLite file that stores the pushes and the channels across runs; nil, the default, to store
        /// them in memory only.
        public var dataFile: String?
        /// The number of streams that a connection may have open before its first valid token; 1 by default, as with
        /// Apple.
        ///
        /// Load generators that cannot wait for the first answer need more.
        public var streamsBeforeToken: UInt32
        /// The rules of APNs that are relaxed; none by default.
        public var relaxedRules: RelaxedRules
        /// The faults; none by default.
        public var faults: [Fault]
        /// Whether the end of a device token, such as `00dead`, selects a response; true by default.
        ///
        /// Of 10 000 device tokens that are numbered, seven have such an end.
        public var usesTokenSuffixes: Bool
        /// The seed of the faults: the same seed reproduces the same faults; random by default.
        public var seed: UInt64
        /// The certificate authority; nil, the default, for a new one in memory.
        public var authority: LocalAuthority?
        /// Host names and addresses that the certificate contains in addition to `localhost`, `127.0.0.1`, `::1` and
        /// Apple's hosts; none by default.
        ///
        /// An ``authority`` that is set must have been created for them.
        public var names: [String]
        /// The settings for sending received pushes on to real devices; nil, the default, to disable it.
        public var release: Release?
        /// The simulated phones; nil, the default, for none.
        package var phones: Phones?

        /// The host for clients: `localhost` if that resolves to the address, otherwise the address itself.
        var clientHost: String {
            ["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"].contains(host) ? "localhost" : host
        }

        /// Creates a configuration with the defaults for everything that is not passed.
        public init(
            host: String = "localhost",
            port: UInt16 = 0,
            channelPort: UInt16? = nil,
            inboxPort: UInt16? = nil,
            isEncrypted: Bool = true,
            environment: Environment = .development,
            storedPushes: Int = 1_000,
            storageTime: Duration = .seconds(7 * 86_400),
            dataFile: String? = nil,
            streamsBeforeToken: UInt32 = 1,
            relaxedRules: RelaxedRules = [],
            faults: [Fault] = [],
            usesTokenSuffixes: Bool = true,
            seed: UInt64 = .random(in: .min ... .max),
            authority: LocalAuthority? = nil,
            names: [String] = [],
            release: Release? = nil
        ) {
            self.host = host
            self.port = port
            self.channelPort = channelPort
            self.inboxPort = inboxPort
            self.isEncrypted = isEncrypted
            self.environment = environment
            self.storedPushes = storedPushes
            self.storageTime = storageTime
            self.dataFile = dataFile
            self.streamsBeforeToken = streamsBeforeToken
            self.relaxedRules = relaxedRules
            self.faults = faults
            self.usesTokenSuffixes = usesTokenSuffixes
            self.seed = seed
            self.authority = authority
            self.names = names
            self.release = release
        }
    }
}
