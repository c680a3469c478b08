// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Small programs that use Martlet as any other package would; `make test` builds them.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "martlet", path: "..")],
    targets: [
        .executableTarget(name: "SendAlert", dependencies: [.product(name: "Martlet", package: "martlet")]),
        // The server of the tutorials; PhoneSide is its app.
        .executableTarget(
            name: "OrderTracker",
            dependencies: [
                .product(name: "LiveSurfaces", package: "martlet"), .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletSimulator", package: "martlet"),
            ]
        ),
        // Compiles to nothing where there is no ActivityKit.
        .target(name: "PhoneSide", dependencies: [.product(name: "LiveSurfaces", package: "martlet")]),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .executableTarget(
            name: "JobTable",
            dependencies: [
                "CSQLite", .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletSimulator", package: "martlet"),
            ]
        ),
        .executableTarget(
            name: "TestWithSimulator",
            dependencies: [
                .product(name: "Martlet", package: "martlet"), .product(name: "MartletSimulator", package: "martlet"),
            ]
        ),
    ]
)
