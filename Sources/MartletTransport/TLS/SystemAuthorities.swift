// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The certificates that the system trusts, as a lookup method of OpenSSL's store (X509_LOOKUP_meth_new(3)).
///
/// They are read when a server first presents a certificate that the store cannot verify: OpenSSL takes 50 milliseconds
/// to read the file of all authorities, which a client of a simulator with its own authority never needs.
///
/// OpenSSL does not search for an authority while the store has one with the same name: of two with one name, the one
/// that was passed to the client hides the system's.
enum SystemAuthorities {
    /// OpenSSL's description of this lookup method.
    ///
    /// It is `nonisolated(unsafe)` because it is a pointer, and safe on any thread because its target is never changed
    /// or freed after its creation here.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        let method = X509_LOOKUP_meth_new("the system's authorities")
        X509_LOOKUP_meth_set_get_by_subject(method) { lookup, type, name, result in
            SystemAuthorities.find(type, name, for: lookup, result)
        }
        return method
    }()

    /// Adds the system's authorities to the store, from `SSL_CERT_DIR` and `SSL_CERT_FILE`, from OpenSSL's default
    /// locations, or from the location of another distribution.
    static func add(to store: OpaquePointer?) {
        // The directory is searched by the name of the authority, which takes little time.
        let directory = X509_STORE_add_lookup(store, X509_LOOKUP_hash_dir())
        X509_LOOKUP_ctrl(directory, X509_L_ADD_DIR, nil, Int(X509_FILETYPE_DEFAULT), nil)
        // The lookup of the file is stored until the file has been read.
        let file = X509_STORE_add_lookup(store, X509_LOOKUP_file())
        X509_LOOKUP_set_method_data(X509_STORE_add_lookup(store, method), UnsafeMutableRawPointer(file))
    }

    /// Finds the certificate of this name and stores it in `result`; returns 0 when there is none.
    private static func find(
        _ type: X509_LOOKUP_TYPE,
        _ name: OpaquePointer?,
        for lookup: OpaquePointer?,
        _ result: OpaquePointer?
    ) -> CInt {
        guard type == X509_LU_X509 else { return 0 }
        let store = X509_LOOKUP_get_store(lookup)
        readFile(for: lookup, into: store)
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        guard
            let object = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), type, name),
            let certificate = X509_OBJECT_get0_X509(object)
        else { return 0 }
        X509_OBJECT_set1_X509(result, certificate)
        // The caller retains the certificate itself, so this reference is released (X509_LOOKUP_meth_new(3)).
        X509_free(certificate)
        return 1
    }

    /// The files of authorities of macOS, and of Linux distributions with another layout than the one for which OpenSSL
    /// was built.
    private static let knownFiles = [
        "/etc/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
    ]

    /// Returns the first known file when OpenSSL's own does not exist and the environment names none.
    private static func otherFile() -> String? {
        guard getenv(X509_get_default_cert_file_env()) == nil, access(X509_get_default_cert_file(), R_OK) != 0 else {
            return nil
        }
        return knownFiles.first { access($0, R_OK) == 0 }
    }

    /// Reads the file unless it has been read; a failed read is repeated at the next call.
    private static func readFile(for lookup: OpaquePointer?, into store: OpaquePointer?) {
        X509_STORE_lock(store)
        let file = X509_LOOKUP_get_method_data(lookup)
        X509_STORE_unlock(store)
        guard let file else { return }
        // Several threads may do this at the same time: certificates that are already in the store are not added again.
        let other = otherFile()
        let type = Int(other == nil ? X509_FILETYPE_DEFAULT : X509_FILETYPE_PEM)
        let isRead = X509_LOOKUP_ctrl(OpaquePointer(file), X509_L_FILE_LOAD, other, type, nil) > 0
        ERR_clear_error()
        guard isRead else { return }
        X509_STORE_lock(store)
        X509_LOOKUP_set_method_data(lookup, nil)
        X509_STORE_unlock(store)
    }
}
