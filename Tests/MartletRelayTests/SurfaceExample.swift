// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore

/// The example that the contract gives of each kind.
enum SurfaceExample {
    static func json(of kind: String) -> String {
        guard let kind = SurfaceKind(rawValue: kind) else { return "null" }
        return String(decoding: SurfaceSnapshot.example(of: kind).json.encoded(), as: UTF8.self)
    }
}
