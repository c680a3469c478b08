// SPDX-License-Identifier: Apache-2.0

internal import MartletCommands
internal import MartletCore
internal import MartletPostgreSQL
internal import MartletSQLite
internal import MartletTransport
internal import MartletZlib

extension Command {
    /// Prints the version of the program and those of its libraries.
    static let version = Command(
        "version",
        "Print the version; with --json also the build and the versions of the libraries",
        examples: ["version", "version --json"],
        OutputFormat.declared
    ) { output in
        let version = MartletVersion.current
        let transport = LibraryVersions()
        output.write(
            json: [
                "version": .string(version),
                "build": [
                    "configuration": .string(configuration), "system": .string(system),
                    "architecture": .string(architecture),
                ],
                "libraries": [
                    "libpq": .string(PostgreSQLLibrary.version),
                    "libuv": .string(transport.libuv),
                    "nghttp2": .string(transport.nghttp2),
                    "openssl": .string(transport.openssl),
                    "sqlite": .string(SQLiteLibrary.version),
                    "zlib": .string(ZlibLibrary.version),
                ],
            ],
            text: "martlet \(version)\n"
        )
    }

    private static var configuration: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private static var system: String {
        #if os(Linux)
            "linux"
        #else
            "macos"
        #endif
    }

    /// The architecture, as `uname -m` prints it on Linux.
    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "unknown"
        #endif
    }
}
