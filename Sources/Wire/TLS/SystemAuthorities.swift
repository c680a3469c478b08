internal import COpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The certificates that the system trusts, as a source of OpenSSL's store (X509_LOOKUP_meth_new(3)).
///
/// They are read when the first server shows a certificate that the store cannot trace back by itself: OpenSSL takes a
/// twentieth of a second for the file of all of them, which a client of a stand-in with its own authority never needs.
enum SystemAuthorities {
    /// OpenSSL's description of this source: safe to share because it is never changed and never freed.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        let method = X509_LOOKUP_meth_new("the system's authorities")
        X509_LOOKUP_meth_set_get_by_subject(method) { lookup, type, name, result in
            SystemAuthorities.find(type, name, for: lookup, result)
        }
        return method
    }()

    /// Has the store look for authorities where `SSL_CERT_DIR` and `SSL_CERT_FILE` say, or where the system has them.
    static func add(to store: OpaquePointer?) {
        // A directory is looked into by the name of what is wanted, which takes no time.
        X509_LOOKUP_ctrl(
            X509_STORE_add_lookup(store, X509_LOOKUP_hash_dir()),
            X509_L_ADD_DIR,
            nil,
            Int(X509_FILETYPE_DEFAULT),
            nil
        )
        X509_STORE_add_lookup(store, method)
    }

    /// Puts the certificate of this name into `result`; 0 without one.
    private static func find(
        _ type: X509_LOOKUP_TYPE,
        _ name: OpaquePointer?,
        for lookup: OpaquePointer?,
        _ result: OpaquePointer?
    ) -> CInt {
        let store = X509_LOOKUP_get_store(lookup)
        guard type == X509_LU_X509, !hasRead(lookup, for: store) else { return 0 }
        // Threads may do this at the same time: what is in the store already is not added again.
        X509_load_cert_crl_file(lookup, file, X509_FILETYPE_PEM)
        ERR_clear_error()
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        X509_LOOKUP_set_method_data(lookup, UnsafeMutableRawPointer(lookup))
        guard
            let object = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store), type, name),
            let certificate = X509_OBJECT_get0_X509(object)
        else { return 0 }
        X509_OBJECT_set1_X509(result, certificate)
        // Whoever asks becomes an owner by himself: this would be one too many (X509_LOOKUP_meth_new(3)).
        X509_free(certificate)
        return 1
    }

    /// Whether the store has what is in the file, and a certificate that it lacks is not there.
    private static func hasRead(_ lookup: OpaquePointer?, for store: OpaquePointer?) -> Bool {
        X509_STORE_lock(store)
        defer { X509_STORE_unlock(store) }
        return X509_LOOKUP_get_method_data(lookup) != nil
    }

    private static var file: UnsafePointer<CChar>? {
        getenv(X509_get_default_cert_file_env()).map { UnsafePointer($0) } ?? X509_get_default_cert_file()
    }
}
