// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "OrderTracker",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://example.com/martlet.git", branch: "main")],
    targets: [
        .executableTarget(
            name: "OrderTracker",
            dependencies: [
                .product(name: "LiveSurfaces", package: "martlet"), .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletSimulator", package: "martlet"),
            ]
        )
    ]
)
