// swift-tools-version: 6.3

import PackageDescription

/// Whether warnings stop the build: when `make` says so, but not for those who depend on the package.
let isStrict = Context.environment["MARTLET_STRICT"] != nil

/// Settings of every Swift target.
let common: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        // Existentials are written `any P` (SE-0335).
        .enableUpcomingFeature("ExistentialAny"),
        // No C module leaks through a public interface (SE-0409).
        .enableUpcomingFeature("InternalImportsByDefault"),
        // What a file uses, it imports (SE-0444).
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function stays on its caller's executor (SE-0461).
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Settings of every target but `PostgreSQL`, `SQLite` and `Wire`, the only ones that may touch unsafe pointers:
/// the compiler names each unsafe expression outside them (SE-0458).
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

/// Programs for libFuzzer, which needs a build of its own: see Scripts/fuzz.
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
        fuzzer("FuzzJSON", of: ["APNs"]),
        fuzzer("FuzzRelay", of: ["APNs", "APNsClient", "APNsServer", "Outbox", "Relay", "WebAPI", "Wire"]),
        fuzzer("FuzzQueries", of: ["APNs", "Simulator"]),
        fuzzer("FuzzSurfaces", of: ["APNs", "LiveSurfaces"]),
    ]

/// A program that libFuzzer drives.
func fuzzer(_ name: String, of modules: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: modules + ["FuzzDriver"],
        path: "Tests/Fuzzing/\(name)",
        swiftSettings: common
    )
}

let package = Package(
    name: "martlet",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "APNs", targets: ["APNs"]),
        .library(name: "APNsClient", targets: ["APNsClient"]),
        .library(name: "LiveSurfaces", targets: ["LiveSurfaces"]),
        .library(name: "Simulator", targets: ["Simulator"]),
        .executable(name: "martlet", targets: ["martlet"]),
    ],
    targets: [
        // Floor 5: commands.
        .executableTarget(
            name: "martlet",
            dependencies: ["APNs", "APNsClient", "Commands", "LiveSurfaces", "Outbox", "Relay", "Simulator", "Wire"],
            swiftSettings: safe
        ),
        .executableTarget(
            name: "MartletBench",
            dependencies: ["APNs", "APNsClient", "Commands", "LiveSurfaces", "Outbox", "SQLite", "Wire"],
            swiftSettings: safe
        ),

        // Floor 4: what plays Apple's part, and what speaks to Apple for others.
        .target(
            name: "Relay",
            dependencies: ["APNs", "APNsClient", "APNsServer", "LiveSurfaces", "Outbox", "Pages", "WebAPI", "Wire"],
            swiftSettings: safe
        ),
        .target(
            name: "Simulator",
            dependencies: [
                "APNs", "APNsClient", "APNsServer", "LiveSurfaces", "Pages", "SQLite", "WebAPI", "Wire",
            ],
            swiftSettings: safe
        ),

        // Floor 3: the two halves of the protocol, and what is kept between them.
        .target(name: "APNsClient", dependencies: ["APNs", "LiveSurfaces", "Wire"], swiftSettings: safe),
        .target(name: "APNsServer", dependencies: ["APNs", "Wire"], swiftSettings: safe),
        .target(name: "WebAPI", dependencies: ["APNs", "Pages", "Wire"], swiftSettings: safe),
        .target(name: "Outbox", dependencies: ["APNs", "PostgreSQL", "SQLite", "Wire"], swiftSettings: safe),

        // Floor 2: bytes, rows, and the contract with the phone.
        .target(name: "LiveSurfaces", dependencies: ["APNs"], swiftSettings: safe),
        .target(name: "Pages", dependencies: ["CPages"], swiftSettings: common),
        .target(name: "PostgreSQL", dependencies: ["CPostgreSQL"], swiftSettings: common),
        .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: common),
        .target(
            name: "Wire",
            dependencies: ["CLibuv", "CNghttp2", "COpenSSL"],
            swiftSettings: common
        ),

        // Floor 1: words, and the C libraries.
        .target(name: "APNs", swiftSettings: safe),
        .target(name: "CPages", exclude: ["inbox", "relay"]),
        .target(name: "Commands", swiftSettings: safe),
        .systemLibrary(
            name: "CLibuv",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        .systemLibrary(
            name: "CNghttp2",
            pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CPostgreSQL",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),

        // Tests mirror the sources.
        .testTarget(name: "APNsTests", dependencies: ["APNs", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "APNsClientTests",
            dependencies: ["APNsClient", "Simulator", "TestSupport", "Wire"],
            swiftSettings: common
        ),
        .testTarget(name: "BlackBoxTests", dependencies: ["TestSupport", "martlet"], swiftSettings: common),
        .testTarget(name: "CommandsTests", dependencies: ["Commands"], swiftSettings: common),
        .testTarget(
            name: "LiveSurfacesTests",
            dependencies: ["APNs", "LiveSurfaces", "TestSupport"],
            swiftSettings: common
        ),
        .testTarget(
            name: "MartletTests",
            dependencies: ["APNsClient", "LiveSurfaces", "Simulator", "TestSupport", "martlet"],
            swiftSettings: common
        ),
        .testTarget(
            name: "OutboxTests",
            dependencies: ["Outbox", "OutboxModel", "SQLite", "TestSupport"],
            swiftSettings: common
        ),
        .testTarget(
            name: "PeerTests",
            dependencies: ["APNs", "APNsClient", "Simulator", "TestSupport", "Wire"],
            swiftSettings: common
        ),
        .testTarget(
            name: "RelayTests",
            dependencies: [
                "APNs", "APNsClient", "APNsServer", "LiveSurfaces", "Outbox", "OutboxModel", "Pages", "Relay",
                "Simulator", "TestSupport",
                "WebAPI",
                "Wire",
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "SimulatorTests",
            dependencies: ["APNsServer", "LiveSurfaces", "SQLite", "Simulator", "TestSupport", "Wire", "martlet"],
            swiftSettings: common
        ),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "WireTests",
            dependencies: ["APNs", "CNghttp2", "TestSupport", "Wire"],
            swiftSettings: common
        ),
        .target(
            name: "OutboxModel",
            dependencies: ["APNs", "Outbox"],
            path: "Tests/OutboxModel",
            swiftSettings: common
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: common),
    ] + fuzzing,
    // What takes the page's files in is C23.
    cLanguageStandard: .c2x
)
