// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import TestSupport

@testable import MartletRelay

/// A directory with all that a relay is configured from.
struct ConfigurationFile {
    static let good = #"""
        {
          "data": "relay.sqlite",
          "listen": {"production": "127.0.0.1:0"},
          "http": "127.0.0.1:0",
          "apps": [{
            "name": "orders", "bundle-ids": ["com.example.orders"],
            "team-id": "DEF123GHIJ", "key-id": "ABC123DEFG", "key-file": "AuthKey.p8", "rate": 100,
            "connections": 12
          }],
          "callers": [{"name": "back end", "key-sha256": "HASH", "apps": ["orders"], "scopes": ["send", "read"]}]
        }
        """#.replacing("HASH", with: String(repeating: "0a", count: 32))

    let directory: ScratchDirectory
    var path: String { directory.path + "/relay.json" }

    init(_ text: String = good) throws {
        directory = try ScratchDirectory()
        try directory.write(ES256PrivateKey().pem(), to: "AuthKey.p8")
        try directory.write(text, to: "relay.json")
    }

    /// The text of the file with some replacements.
    static func good(_ changes: (String, String)...) -> String {
        changes.reduce(good) { $0.replacing($1.0, with: $1.1) }
    }
}
