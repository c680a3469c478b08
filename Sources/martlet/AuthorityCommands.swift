import Commands
import Simulator

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Says where the certificate is that clients of a simulator have to trust.
    static let authorityPath = Command(
        "ca path",
        "Print where the simulator's authority is, which clients have to trust; it is made when missing",
        examples: ["ca path", "ca path --ca-directory /certificates --name apns"],
        AuthorityOptions.declared
    ) { options in
        _ = try options.authority()
        Terminal.output.write(options.file + "\n")
    }

    /// Prints the certificate that clients of a simulator have to trust.
    static let authorityPrint = Command(
        "ca print",
        "Print the certificate of the simulator's authority, PEM; it is made when missing",
        examples: ["ca print > ca.pem"],
        AuthorityOptions.declared
    ) { options in
        Terminal.output.write(try options.authority().certificatePEM)
    }
}

/// The options that say which certificate authority vouches for a simulator, and for what.
struct AuthorityOptions: Sendable {
    private var givenDirectory: String?
    /// Further names that a simulator's certificate carries.
    private(set) var names: [String]

    static let declared = Group(
        Option<String?>(
            "--ca-directory",
            "Where its certificate authority is kept; ~/.local/share/martlet when not given"
        ),
        Option<[String]>("--name", "A host name or address that its certificate carries besides localhost and Apple's")
    ) { AuthorityOptions(givenDirectory: $0, names: $1) }

    private var directory: String {
        if let givenDirectory { return givenDirectory }
        let environment = ProcessInfo.processInfo.environment
        let data = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? ".") + "/.local/share"
        return data + "/martlet"
    }

    /// Where its certificate is.
    var file: String { LocalAuthority.certificatePath(in: directory) }

    /// The authority, made now when there is none.
    func authority() throws(SimulatorError) -> LocalAuthority {
        try LocalAuthority(directory: directory, names: names)
    }
}
