// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A server that uses Martlet's package traits; `make traits` builds and runs it.
let package = Package(
    name: "PushService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "martlet",
            path: "../..",
            traits: [
                "ServiceLifecycleSupport", "LoggingSupport", "MetricsSupport", "TracingSupport", "ConfigurationSupport",
            ]
        ),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.4"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "PushService",
            dependencies: [
                .product(name: "Martlet", package: "martlet"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Configuration", package: "swift-configuration"),
            ]
        )
    ]
)
