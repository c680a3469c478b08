// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

extension String {
    /// Calls `body` with a read-only BIO over the text.
    func withBIO<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        prepareOpenSSL()
        var copy = self
        return copy.withUTF8 { bytes in
            let bio = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count))
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// Creates a string from the bytes that OpenSSL writes to a BIO; nil when OpenSSL reports a failure.
    init?(writingBIO write: (OpaquePointer?) -> CInt) {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = martlet_BIO_get_mem_data(bio, &start)
        self.init(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
