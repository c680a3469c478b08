internal import COpenSSL

/// The certificates that the system trusts, as a source of OpenSSL's store (X509_LOOKUP_meth_new(3)).
///
/// They are read when the first server shows a certificate that the store cannot trace back by itself: OpenSSL takes a
/// twentieth of a second for the file of all of them, which a client of a stand-in with its own authority never needs.
///
/// OpenSSL does not ask for an authority while the store has one of the same name: of two with one name, that which was
/// given to the client hides the system's.
enum SystemAuthorities {
    /// OpenSSL's description of this source.
    ///
    /// It is `nonisolated(unsafe)` for being a bare pointer, and safe on any thread because nothing changes or frees
    /// what it points to once it is made here.
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
        let directory = X509_STORE_add_lookup(store, X509_LOOKUP_hash_dir())
        X509_LOOKUP_ctrl(directory, X509_L_ADD_DIR, nil, Int(X509_FILETYPE_DEFAULT), nil)
        // The file is kept at hand until it has been read.
        let file = X509_STORE_add_lookup(store, X509_LOOKUP_file())
        X509_LOOKUP_set_method_data(X509_STORE_add_lookup(store, method), UnsafeMutableRawPointer(file))
    }

    /// Puts the certificate of this name into `result`; 0 without one.
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
        // Whoever asks becomes an owner by himself: this would be one too many (X509_LOOKUP_meth_new(3)).
        X509_free(certificate)
        return 1
    }

    /// Reads the file unless it has been read; what could not be read is tried again.
    private static func readFile(for lookup: OpaquePointer?, into store: OpaquePointer?) {
        X509_STORE_lock(store)
        let file = X509_LOOKUP_get_method_data(lookup)
        X509_STORE_unlock(store)
        guard let file else { return }
        // Threads may do this at the same time: what is in the store already is not added again.
        let isRead = X509_LOOKUP_ctrl(OpaquePointer(file), X509_L_FILE_LOAD, nil, Int(X509_FILETYPE_DEFAULT), nil) > 0
        ERR_clear_error()
        guard isRead else { return }
        X509_STORE_lock(store)
        X509_LOOKUP_set_method_data(lookup, nil)
        X509_STORE_unlock(store)
    }
}
