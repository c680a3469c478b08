// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
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

    /// Returns a path that is valid in every working directory, because clients have other ones.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

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
            throw SimulatorError("cannot create a certificate authority: \(error)")
        }
    }

    /// Loads the authority from a directory, or creates it there if it does not exist.
    ///
    /// Only the owner of the private key's file can read it. If only the key exists, a certificate is created for it.
    ///
    /// - Parameters:
    ///   - directory: The directory of `ca.pem` and `ca-key.pem`, created if it does not exist.
    ///   - names: Further host names and addresses that it may certify, if its certificate is created now.
    /// - Throws: ``SimulatorError`` when the files cannot be read, written or parsed, or a name is invalid.
    public convenience init(directory: String, names: [String] = []) throws(SimulatorError) {
        let certificatePath = LocalAuthority.certificatePath(in: directory)
        let keyPath = directory + "/ca-key.pem"
        do {
            let files = FileManager.default
            // An existing certificate is never replaced, because clients may trust it.
            if !files.fileExists(atPath: certificatePath) {
                try LocalAuthority.create(in: directory, certificatePath, keyPath, permitting: names)
            }
            let certificate = try FileContents.text(certificatePath)
            let key = try FileContents.text(keyPath)
            try self.init(
                CertificateAuthority(certificatePEM: certificate, keyPEM: key),
                certificateFile: LocalAuthority.absolute(certificatePath)
            )
        } catch {
            throw SimulatorError("the certificate authority in \(ShownValue(directory)) cannot be used: \(error)")
        }
    }

    /// Writes the certificate of a new authority, and its key unless the directory has one.
    ///
    /// A key without a certificate was written by a process that ended before it wrote the certificate, or that is
    /// about to write it. Whichever process links a certificate for that key first determines the certificate.
    private static func create(
        in directory: String,
        _ certificatePath: String,
        _ keyPath: String,
        permitting names: [String]
    ) throws {
        let files = FileManager.default
        let fresh = try CertificateAuthority(permitting: names)
        try FileContents.createDirectory(directory)
        let draft = directory + "/.ca-\(UInt64.random(in: .min ... .max))"
        try FileContents.createDirectory(draft)
        defer { try? files.removeItem(atPath: draft) }
        if !files.fileExists(atPath: keyPath) {
            try FileContents.create(draft + "/ca-key.pem", try fresh.keyPEM(), mode: 0o600)
            // A link is atomic, and fails if the name is taken.
            _ = try FileContents.link(draft + "/ca-key.pem", to: keyPath)
        }
        let authority = try CertificateAuthority(permitting: names, keyPEM: FileContents.text(keyPath))
        try FileContents.create(draft + "/ca.pem", try authority.certificatePEM(), mode: 0o644)
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
                "the certificate authority was created without \(names.map(\.text).joined(separator: ", ")): "
                    + "create another one for these names in another directory"
            )
        }
        return TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
    }
}
