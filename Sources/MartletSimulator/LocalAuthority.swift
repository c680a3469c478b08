internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The certificate authority that issues a simulator's certificates; clients are configured to trust its certificate.
///
/// It can certify only this machine, Apple's push hosts and the names it was created for, so trusting it does not
/// affect any other host.
public final class LocalAuthority: Sendable {
    /// The host names in a simulator's certificate: this machine's, and Apple's for clients whose host cannot be
    /// changed.
    static let hostNames = [
        "localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com",
    ]
    /// The addresses in a simulator's certificate.
    static let addresses = ["127.0.0.1", "::1"]

    private let authority: CertificateAuthority

    /// The authority's own certificate, PEM.
    public let certificatePEM: String
    /// The path of that certificate; nil for an authority that exists only in memory.
    let certificateFile: String?

    private init(_ authority: CertificateAuthority, certificateFile: String? = nil) throws {
        self.authority = authority
        self.certificateFile = certificateFile
        certificatePEM = try authority.certificatePEM()
    }

    /// Creates an authority that exists only in memory.
    ///
    /// - Parameter names: Further host names and addresses that it may certify, such as those of a container.
    /// - Throws: ``SimulatorError`` when no key or certificate can be created, or a name is invalid.
    public convenience init(names: [String] = []) throws(SimulatorError) {
        do {
            try self.init(CertificateAuthority(permitting: names))
        } catch {
            throw SimulatorError("no certificate authority can be made: \(error)")
        }
    }

    /// Loads the authority from a directory, or creates it there if it does not exist.
    ///
    /// Only the owner of the private key's file can read it.
    ///
    /// - Parameters:
    ///   - directory: The directory of `ca.pem` and `ca-key.pem`, created if it does not exist.
    ///   - names: Further host names and addresses that it may certify, if it is created now.
    /// - Throws: ``SimulatorError`` when the files cannot be read, written or parsed, or a name is invalid.
    public convenience init(directory: String, names: [String] = []) throws(SimulatorError) {
        let certificatePath = LocalAuthority.certificatePath(in: directory)
        let keyPath = directory + "/ca-key.pem"
        do {
            let files = FileManager.default
            // Create it only if neither file exists: clients may trust an authority whose files cannot be read.
            if !files.fileExists(atPath: certificatePath), !files.fileExists(atPath: keyPath) {
                let fresh = try CertificateAuthority(permitting: names)
                try LocalAuthority.keep(fresh, in: directory, certificatePath: certificatePath, keyPath: keyPath)
            }
            let certificate = try FileContents.text(certificatePath)
            let key = try FileContents.text(keyPath)
            try self.init(
                CertificateAuthority(certificatePEM: certificate, keyPEM: key),
                certificateFile: certificatePath
            )
        } catch {
            throw SimulatorError("the certificate authority in \(directory) cannot be used: \(error)")
        }
    }

    /// Writes the files of a new authority.
    ///
    /// If two processes do so at the same time, the first that links its key also links its certificate.
    private static func keep(
        _ fresh: CertificateAuthority,
        in directory: String,
        certificatePath: String,
        keyPath: String
    ) throws {
        try FileContents.createDirectory(directory)
        let draft = directory + "/.ca-\(UInt64.random(in: .min ... .max))"
        try FileContents.createDirectory(draft)
        defer { try? FileManager.default.removeItem(atPath: draft) }
        try FileContents.create(draft + "/ca-key.pem", try fresh.keyPEM(), mode: 0o600)
        try FileContents.create(draft + "/ca.pem", try fresh.certificatePEM(), mode: 0o644)
        // A link is atomic, and fails if the name is taken.
        guard try FileContents.link(draft + "/ca-key.pem", to: keyPath) else { return }
        _ = try FileContents.link(draft + "/ca.pem", to: certificatePath)
    }

    /// Returns the path of the certificate of an authority in a directory.
    ///
    /// - Parameter directory: The directory.
    /// - Returns: The path of the certificate's file.
    public static func certificatePath(in directory: String) -> String {
        directory + "/ca.pem"
    }

    /// Checks that a simulator can use certain names with this authority.
    ///
    /// - Parameter names: Host names and addresses in addition to those of every simulator.
    /// - Throws: ``SimulatorError`` when one is not a name, or the authority was created without it.
    package func check(names: [String]) throws(SimulatorError) {
        do {
            _ = try serverIdentity(names: names)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError("\(error)")
        }
    }

    /// Returns a certificate for one run of a simulator, with further names and addresses in addition to its own.
    ///
    /// - Parameters:
    ///   - names: The further names and addresses.
    ///   - hasAddresses: Whether it has addresses. BoringSSL, which clients such as APNSwift use, rejects a certificate
    ///     with addresses when its authority is limited to some, so clients that name a host get one without them.
    /// - Returns: The certificate with its key.
    /// - Throws: ``SimulatorError`` when a name is invalid, or the authority may not certify it.
    func serverIdentity(names: [String] = [], hasAddresses: Bool = true) throws -> TLSContext.Identity {
        let names = try names.map(SubjectName.init)
        let addresses = LocalAuthority.addresses + names.filter(\.isAddress).map(\.text)
        let issued = try authority.issueServerCertificate(
            dnsNames: LocalAuthority.hostNames + names.filter { !$0.isAddress }.map(\.text),
            ipAddresses: hasAddresses ? addresses : []
        )
        guard authority.mayVouch(for: issued) else {
            throw SimulatorError(
                "the certificate authority may not vouch for \(names.map(\.text).joined(separator: ", ")), "
                    + "which it was not made for: have another made for them, in a directory of its own"
            )
        }
        return TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
    }
}
