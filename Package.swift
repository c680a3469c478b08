// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Whether warnings are errors: when `make` builds the package, but not when it is a dependency of another package.
let isStrict = Context.environment["MARTLET_STRICT"] != nil

/// Settings of every Swift target.
let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        // Existentials are written `any P` (SE-0335).
        .enableUpcomingFeature("ExistentialAny"),
        // No C module is visible in a public interface (SE-0409).
        .enableUpcomingFeature("InternalImportsByDefault"),
        // Each file imports the modules that it uses (SE-0444).
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function stays on its caller's executor (SE-0461).
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Settings of every target except `MartletPostgreSQL`, `MartletSQLite`, `MartletTransport` and `MartletZlib`, the only
/// ones that may use unsafe pointers: in the others the compiler reports each unsafe expression (SE-0458).
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

/// Settings of the tests and of what only they use: never optimised.
///
/// To optimise them takes longer than to run them. SwiftPM permits unsafe flags as no product contains these targets.
let tests: [SwiftSetting] = common + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// Programs for libFuzzer, built separately by Scripts/fuzz.
let fuzzing: [Target] =
    Context.environment["FUZZ"] == nil
    ? []
    : [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
        .target(
            name: "FuzzDriver",
            dependencies: ["CFuzzer"],
            path: "Tests/Fuzzing/FuzzDriver",
            swiftSettings: common
        ),
        fuzzer("FuzzJSON", of: ["MartletCore"]),
        fuzzer(
            "FuzzRelay",
            of: [
                "MartletCore", "Martlet", "MartletServer", "MartletOutbox", "MartletRelay", "MartletHTTPServer",
                "MartletTransport",
            ]
        ),
        fuzzer("FuzzQueries", of: ["MartletCore", "MartletSimulator"]),
        fuzzer("FuzzSurfaces", of: ["MartletCore", "LiveSurfaces"]),
    ]

/// Returns a target for a program that libFuzzer runs.
func fuzzer(_ name: String, of modules: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: modules + ["FuzzDriver"],
        path: "Tests/Fuzzing/\(name)",
        swiftSettings: common
    )
}

/// Returns a dependency of the targets that conform to its protocols, used only when the trait is enabled.
func optional(_ product: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [trait]))
}

/// The optional dependencies of the client and of the programs' simulator.
let serviceLifecycle = optional("ServiceLifecycle", "swift-service-lifecycle", "ServiceLifecycleSupport")

let package = Package(
    name: "martlet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "MartletCore", targets: ["MartletCore"]),
        .library(name: "Martlet", targets: ["Martlet"]),
        .library(name: "LiveSurfaces", targets: ["LiveSurfaces"]),
        .library(name: "MartletSimulator", targets: ["MartletSimulator"]),
        .executable(name: "martlet", targets: ["MartletCLI"]),
    ],
    // Off by default: SwiftPM does not fetch the packages below unless a trait uses them.
    traits: [
        .trait(
            name: "ServiceLifecycleSupport",
            description: "PushClient and SimulatedAPNs are services of swift-service-lifecycle"
        ),
        .trait(name: "LoggingSupport", description: "PushClient writes its events to a Logger of swift-log"),
        .trait(name: "MetricsSupport", description: "PushClient records its figures with swift-metrics"),
        .trait(name: "TracingSupport", description: "Each send is a span of swift-distributed-tracing"),
        .trait(
            name: "ConfigurationSupport",
            description: "PushClient can be created from a ConfigReader of swift-configuration"
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.4"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
    ],
    targets: [
        // Layer 5: programs.
        .executableTarget(
            name: "MartletCLI",
            dependencies: [
                "MartletCore", "Martlet", "MartletCommands", "LiveSurfaces", "MartletOutbox", "MartletPostgreSQL",
                "MartletRelay", "MartletSimulator", "MartletSQLite", "MartletTransport", "MartletZlib",
            ],
            swiftSettings: safe
        ),
        .executableTarget(
            name: "MartletBench",
            dependencies: [
                "MartletCore", "Martlet", "MartletCommands", "LiveSurfaces", "MartletOutbox", "MartletSQLite",
                "MartletTransport",
            ],
            swiftSettings: safe
        ),
        .executableTarget(
            name: "MartletPhones",
            dependencies: ["MartletCore", "MartletCommands", "LiveSurfaces", "MartletSimulator", "MartletTransport"],
            swiftSettings: safe
        ),

        // Layer 4: the relay and the simulator.
        .target(
            name: "MartletRelay",
            dependencies: [
                "MartletCore", "Martlet", "MartletServer", "LiveSurfaces", "MartletOutbox", "MartletHTTPServer",
                "MartletTransport",
            ],
            swiftSettings: safe
        ),
        .target(
            name: "MartletSimulator",
            dependencies: [
                "MartletCore", "Martlet", "MartletServer", "LiveSurfaces", "MartletSQLite", "MartletHTTPServer",
                "MartletTransport", serviceLifecycle,
            ],
            swiftSettings: safe
        ),

        // Layer 3: the client and the server side of APNs, and the storage of the relay.
        .target(
            name: "Martlet",
            dependencies: [
                "MartletCore", "LiveSurfaces", "MartletTransport",
                serviceLifecycle,
                optional("Logging", "swift-log", "LoggingSupport"),
                optional("Metrics", "swift-metrics", "MetricsSupport"),
                optional("Tracing", "swift-distributed-tracing", "TracingSupport"),
                optional("Configuration", "swift-configuration", "ConfigurationSupport"),
            ],
            swiftSettings: safe
        ),
        .target(name: "MartletServer", dependencies: ["MartletCore", "MartletTransport"], swiftSettings: safe),
        .target(
            name: "MartletOutbox",
            dependencies: ["CMartletSQL", "MartletCore", "MartletPostgreSQL", "MartletSQLite", "MartletTransport"],
            swiftSettings: safe
        ),

        // Layer 2: the snapshot contract, network transport, HTTP/1.1, databases and compression.
        .target(name: "LiveSurfaces", dependencies: ["MartletCore"], swiftSettings: safe),
        .target(
            name: "MartletHTTPServer",
            dependencies: ["CMartletPages", "MartletCore", "MartletTransport", "MartletZlib"],
            swiftSettings: safe
        ),
        .target(name: "MartletPostgreSQL", dependencies: ["CMartletPostgreSQL"], swiftSettings: common),
        .target(name: "MartletSQLite", dependencies: ["CMartletSQLite", "MartletCore"], swiftSettings: common),
        .target(
            name: "MartletTransport",
            dependencies: ["CMartletLibuv", "CMartletNghttp2", "CMartletOpenSSL", "MartletCore"],
            swiftSettings: common
        ),
        .target(name: "MartletZlib", dependencies: ["CMartletZlib"], swiftSettings: common),

        // Layer 1: vocabulary, command lines, and the C libraries.
        .target(name: "MartletCore", swiftSettings: safe),
        .target(name: "CMartletPages", exclude: ["file.h", "inbox", "relay", "shared", "shared.h"]),
        .target(name: "CMartletSQL", exclude: ["postgresql", "script.h", "sqlite"]),
        .target(name: "MartletCommands", dependencies: ["MartletCore"], swiftSettings: safe),
        .systemLibrary(
            name: "CMartletLibuv",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        .systemLibrary(
            name: "CMartletNghttp2",
            pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]
        ),
        .systemLibrary(
            name: "CMartletOpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CMartletPostgreSQL",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CMartletSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CMartletZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),

        // Tests mirror the sources.
        .testTarget(name: "MartletCoreTests", dependencies: ["MartletCore", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "MartletTests",
            dependencies: [
                "Martlet", "MartletSimulator", "TestSupport", "MartletTransport",
                serviceLifecycle,
                optional("Logging", "swift-log", "LoggingSupport"),
                optional("MetricsTestKit", "swift-metrics", "MetricsSupport"),
                optional("InMemoryTracing", "swift-distributed-tracing", "TracingSupport"),
                optional("Configuration", "swift-configuration", "ConfigurationSupport"),
            ],
            swiftSettings: tests
        ),
        .testTarget(name: "BlackBoxTests", dependencies: ["TestSupport", "MartletCLI"], swiftSettings: tests),
        .testTarget(
            name: "MartletHTTPServerTests",
            dependencies: ["MartletCore", "MartletHTTPServer", "MartletTransport", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(name: "MartletCommandsTests", dependencies: ["MartletCommands"], swiftSettings: tests),
        .testTarget(
            name: "LiveSurfacesTests",
            dependencies: ["MartletCore", "LiveSurfaces", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletCLITests",
            dependencies: [
                "Martlet", "MartletCommands", "LiveSurfaces", "MartletHTTPServer", "MartletSimulator", "TestSupport",
                "MartletCLI",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletOutboxTests",
            dependencies: ["MartletOutbox", "OutboxModel", "MartletSQLite", "MartletTransport", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletPostgreSQLTests",
            dependencies: ["MartletPostgreSQL", "TestSupport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletServerTests",
            dependencies: ["MartletCore", "MartletServer", "MartletTransport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "PeerTests",
            dependencies: ["MartletCore", "Martlet", "MartletSimulator", "TestSupport", "MartletTransport"],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletRelayTests",
            dependencies: [
                "MartletCore", "Martlet", "MartletServer", "LiveSurfaces", "MartletOutbox", "OutboxModel",
                "MartletRelay",
                "MartletSimulator", "TestSupport",
                "MartletHTTPServer",
                "MartletTransport",
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "MartletSimulatorTests",
            dependencies: [
                "MartletServer", "LiveSurfaces", "MartletSQLite", "MartletSimulator", "TestSupport", "MartletTransport",
                "MartletCLI",
            ],
            swiftSettings: tests
        ),
        .testTarget(name: "MartletSQLiteTests", dependencies: ["MartletSQLite", "TestSupport"], swiftSettings: tests),
        .testTarget(
            name: "MartletTransportTests",
            dependencies: ["MartletCore", "CMartletNghttp2", "TestSupport", "MartletTransport"],
            swiftSettings: tests
        ),
        .testTarget(name: "MartletZlibTests", dependencies: ["MartletZlib", "TestSupport"], swiftSettings: tests),
        .target(
            name: "OutboxModel",
            dependencies: ["MartletCore", "MartletOutbox"],
            path: "Tests/OutboxModel",
            swiftSettings: tests
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: tests),
    ] + fuzzing,
    // `#embed`, which includes the files of the pages and the SQL scripts, is C23.
    cLanguageStandard: .c2x
)
