// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletSimulator

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Prints the path of the certificate that clients of a simulator must trust.
    static let authorityPath = Command(
        "ca path",
        "Print the path of the simulator's CA certificate, which clients must trust; create it if missing",
        examples: ["ca path", "ca path --ca-directory /certificates --name apns"],
        AuthorityOptions.declared,
        OutputFormat.declared
    ) { options, output in
        _ = try options.authority()
        output.write(json: ["path": .string(options.file)], text: options.file + "\n")
    }

    /// Prints the certificate that clients of a simulator must trust.
    static let authorityPrint = Command(
        "ca print",
        "Print the simulator's CA certificate, PEM; create it if missing",
        examples: ["ca print > ca.pem"],
        AuthorityOptions.declared,
        OutputFormat.declared
    ) { options, output in
        let certificate = try options.authority().certificatePEM
        output.write(json: ["path": .string(options.file), "certificate": .string(certificate)], text: certificate)
    }
}

/// The options for the certificate authority of a simulator.
struct AuthorityOptions: Sendable {
    private var givenDirectory: String?
    /// Additional names in the simulator's certificate.
    private(set) var names: [String]

    static let declared = Group(
        Option<FilePath?>(
            "--ca-directory",
            "Directory of the certificate authority; ~/.local/share/martlet by default"
        ),
        Option<[String]>(
            "--name",
            "Host name or address for the certificate, in addition to localhost and Apple's hosts"
        )
    ) { AuthorityOptions(givenDirectory: $0?.path, names: $1) }

    private var directory: String {
        if let givenDirectory { return givenDirectory }
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"] ?? ""
        let data = environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        return (data ?? (home.isEmpty ? "." : home) + "/.local/share") + "/martlet"
    }

    /// The path of the certificate.
    var file: String { LocalAuthority.certificatePath(in: directory) }

    /// Loads the authority, creating it if it does not exist.
    ///
    /// - Throws: ``UsageError`` if its files cannot be used, or if it was created without one of the names.
    func authority() throws(UsageError) -> LocalAuthority {
        do throws(SimulatorError) {
            let authority = try LocalAuthority(directory: directory, names: names)
            try authority.check(names: names)
            return authority
        } catch {
            throw UsageError("\(error)")
        }
    }

    /// Loads the authority for a run of a simulator, which needs no directory unless one was given.
    ///
    /// A container may run as a user that can write to no directory.
    ///
    /// - Returns: The authority, and a warning if it exists only in memory.
    /// - Throws: ``UsageError`` as ``authority()``, except for a default directory without an authority.
    func authorityForOneRun() throws(UsageError) -> (authority: LocalAuthority, warning: String?) {
        do throws(UsageError) {
            return (try authority(), nil)
        } catch {
            guard givenDirectory == nil, !FileManager.default.fileExists(atPath: file) else { throw error }
            let warning =
                "warning: \(error); this run has an authority in memory, whose certificate the HTTP interface returns "
                + "at /api/v1/ca.pem: give --ca-directory to use the same in every run"
            do throws(SimulatorError) {
                return (try LocalAuthority(names: names), warning)
            } catch {
                throw UsageError("\(error)")
            }
        }
    }
}
