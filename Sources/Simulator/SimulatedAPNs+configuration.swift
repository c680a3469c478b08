extension SimulatedAPNs {
    /// The two worlds of APNs; tokens belong to one.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// Apps run from Xcode.
        case development
        /// Everything else.
        case production
    }

    /// Addresses, certificate authority and bounds of a simulator.
    public struct Configuration: Sendable {
        /// The address to listen on; `127.0.0.1` by default.
        public var host: String
        /// The port that answers as APNs; 0, the default, for any that is free.
        public var port: UInt16
        /// A port of its own for the management of channels, as Apple has it, 0 for any that is free; nil, the default,
        /// for none: the port that answers as APNs does that, too.
        public var channelPort: UInt16?
        /// The port of the HTTP interface, 0 for any that is free; nil, the default, for none.
        public var inboxPort: UInt16?
        /// Whether clients speak TLS, as with Apple, or HTTP/2 in the clear with prior knowledge; true by default.
        public var isEncrypted: Bool
        /// Which environment it plays; development by default.
        public var environment: Environment
        /// Pushes that are remembered; 1 000 by default.
        public var keptPushes: Int
        /// How long a push is remembered; seven days by default.
        public var keptTime: Duration
        /// A SQLite file that keeps what is remembered, and the channels, from one run to the next; nil, the default,
        /// for memory alone.
        public var dataFile: String?
        /// Streams a connection may have open before its first valid token; 1, as with Apple, by default.
        ///
        /// Load generators that cannot wait for the first answer want more.
        public var streamsBeforeToken: UInt32
        /// Laws of APNs that are let rest; none by default.
        public var leniency: Leniency
        /// What goes wrong; nothing by default.
        public var faults: [Fault]
        /// Decides what goes wrong when, the same for the same seed; by default from chance.
        public var seed: UInt64
        /// The certificate authority; nil, the default, for a fresh one in memory.
        public var authority: LocalAuthority?
        /// Host names and addresses that its certificate carries besides `localhost`, `127.0.0.1`, `::1` and Apple's
        /// hosts; none by default.
        ///
        /// An ``authority`` that is given has to be made for them.
        public var names: [String]
        /// How pushes that came in may be sent on for real; nil, the default, for not at all.
        public var release: Release?

        /// The host for clients: `localhost` where that leads to the address, else the address itself.
        var clientHost: String {
            ["127.0.0.1", "::1", "0.0.0.0", "::"].contains(host) ? "localhost" : host
        }

        /// The defaults, save what is given.
        public init(
            host: String = "127.0.0.1",
            port: UInt16 = 0,
            channelPort: UInt16? = nil,
            inboxPort: UInt16? = nil,
            isEncrypted: Bool = true,
            environment: Environment = .development,
            keptPushes: Int = 1_000,
            keptTime: Duration = .seconds(7 * 86_400),
            dataFile: String? = nil,
            streamsBeforeToken: UInt32 = 1,
            leniency: Leniency = [],
            faults: [Fault] = [],
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
            self.keptPushes = keptPushes
            self.keptTime = keptTime
            self.dataFile = dataFile
            self.streamsBeforeToken = streamsBeforeToken
            self.leniency = leniency
            self.faults = faults
            self.seed = seed
            self.authority = authority
            self.names = names
            self.release = release
        }
    }
}
