// SPDX-License-Identifier: Apache-2.0

import FuzzDriver
import LiveSurfaces
import MartletCore

/// Fuzzes the snapshot parser for crashes, hangs, and snapshots that do not survive encoding.
@main
struct FuzzSurfaces: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        _ = try? NotificationCategories(parsing: bytes)
        guard let snapshot = try? SurfaceSnapshot.parse(anyVersion: bytes).snapshot else { return }
        let again = try? SurfaceSnapshot(parsing: snapshot.json.encoded())
        precondition(again == snapshot, "encoding changes the snapshot")
    }
}
