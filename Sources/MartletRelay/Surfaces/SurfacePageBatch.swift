// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Pages that are stored in one commit.
struct SurfacePageBatch {
    let start = ContinuousClock.now
    private(set) var pages: [SurfacePage] = []
    /// The app of each page.
    private(set) var apps: [String] = []
    /// The number of installations.
    private(set) var size = 0

    mutating func add(_ page: SurfacePage, of app: String) {
        pages.append(page)
        apps.append(app)
        size += page.installations.count
    }
}
