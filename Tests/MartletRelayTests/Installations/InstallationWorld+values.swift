// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

@testable import MartletRelay

extension InstallationWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// A relay with a clock of its own, without its connections.
    struct Relay {
        let outbox: any OutboxStore
        let registry: InstallationRegistry
        let clock = TestClock()

        init(over outbox: any OutboxStore) throws {
            self.outbox = outbox
            let configuration = RelayConfiguration(data: .file(""), apps: [], listeners: [:])
            registry = InstallationRegistry(try RelayContext(configuration, outbox, clock: clock.wall, log: .silent))
        }

        /// Milliseconds since 1970.
        var now: Int64 { clock.now * 1_000 }
    }

    struct Phone {
        let token: String
        /// Apple's time of the removal of the app; nil while the phone has the app.
        var unregisteredAt: Int64?
    }

    /// An installation that a relay has answered for and that was not removed.
    struct Session {
        var id: InstallationID
        var user: String
        var secret: String
        var phone: Int
        /// Whether the token of the phone belongs to it.
        var ownsToken: Bool
        /// The place of the last registration of the token in the order of events.
        var order: Int
    }

    /// A push that has not ended.
    struct Push {
        struct Claim {
            var relay: Int
            var push: ClaimedPush
            /// The time in Apple's answer when that is 410.
            var unregisteredAt: Int64?
        }

        /// The user of a claimed push whose user was erased.
        static let erasedUser = ""

        var push: OutboxPush
        var phone: Int
        /// The owner of the token at the acceptance.
        var user: String?
        /// The place of the acceptance in the order of events.
        var order: Int
        var claim: Claim?
    }
}
