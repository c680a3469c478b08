// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces

/// An order of the shop, in one of its revisions.
struct Order: Sendable {
    enum Stage: String, Sendable {
        case accepted, baking, ready

        var progress: Double {
            switch self {
            case .accepted: 0
            case .baking: 0.5
            case .ready: 1
            }
        }
    }

    var number: Int
    var revision: Int
    var changedAt: Date
    var stage: Stage

    /// The identifier of the order on phones, in all its revisions.
    var surfaceID: String { "order-\(number)" }

    var headline: String {
        switch stage {
        case .accepted: "Order accepted"
        case .baking: "In the oven"
        case .ready: "Order ready"
        }
    }

    var detail: String { stage == .ready ? "Pick it up at Main Street 5." : "We tell you when it is ready." }
    var link: String { "shop://orders/\(number)" }
}
