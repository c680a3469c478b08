// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The loopback addresses of the machine.
public enum Loopback {
    /// Whether the machine has the address `::1`; many containers do not.
    public static let hasIPv6: Bool = {
        #if os(Linux)
            let addresses = (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)) ?? ""
            return addresses.contains("00000000000000000000000000000001")
        #else
            return true
        #endif
    }()
}
