// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The authenticated cipher AES-256-GCM (NIST SP 800-38D).
package enum AES256GCM {
    /// The length of a key in bytes.
    package static let keyByteCount = 32
    /// The length of a nonce in bytes.
    package static let nonceByteCount = 12
    /// The length of the tag behind the encrypted bytes.
    package static let tagByteCount = 16

    /// Encrypts bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - key: The key.
    ///   - nonce: The nonce, which must not be used again with the key for other bytes.
    ///   - data: Bytes that are not encrypted, but without which the result cannot be decrypted.
    /// - Returns: The encrypted bytes, as many as the input, followed by the tag.
    /// - Throws: ``CryptographyError`` when the key or the nonce has another length, or OpenSSL fails.
    package static func encrypt(
        _ bytes: [UInt8],
        key: [UInt8],
        nonce: [UInt8],
        authenticating data: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let context = try Context(key: key, nonce: nonce, isEncrypting: true)
        var encrypted = try context.update(bytes, authenticating: data)
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        guard context.finish(),
            EVP_CIPHER_CTX_ctrl(context.raw, EVP_CTRL_AEAD_GET_TAG, CInt(tagByteCount), &tag) == 1
        else { throw CryptographyError("cannot encrypt: \(openSSLMessage())") }
        encrypted += tag
        return encrypted
    }

    /// Decrypts bytes.
    ///
    /// - Parameters:
    ///   - bytes: The result of ``encrypt(_:key:nonce:authenticating:)``.
    ///   - key: The key.
    ///   - nonce: The nonce.
    ///   - data: The bytes that were authenticated.
    /// - Returns: The bytes; nil when anything differs from the encryption.
    /// - Throws: ``CryptographyError`` when the key or the nonce has another length, or OpenSSL fails.
    package static func decrypt(
        _ bytes: ArraySlice<UInt8>,
        key: [UInt8],
        nonce: [UInt8],
        authenticating data: [UInt8]
    ) throws(CryptographyError) -> [UInt8]? {
        guard bytes.count >= tagByteCount else { return nil }
        let context = try Context(key: key, nonce: nonce, isEncrypting: false)
        let decrypted = try context.update(Array(bytes.dropLast(tagByteCount)), authenticating: data)
        var tag = Array(bytes.suffix(tagByteCount))
        guard EVP_CIPHER_CTX_ctrl(context.raw, EVP_CTRL_AEAD_SET_TAG, CInt(tagByteCount), &tag) == 1 else {
            throw CryptographyError("cannot decrypt: \(openSSLMessage())")
        }
        guard context.finish() else {
            // OpenSSL may report the wrong tag as an error, which must not stay in its error queue.
            ERR_clear_error()
            return nil
        }
        return decrypted
    }

    /// The state of one encryption or decryption.
    private final class Context {
        let raw: OpaquePointer

        init(key: [UInt8], nonce: [UInt8], isEncrypting: Bool) throws(CryptographyError) {
            prepareOpenSSL()
            guard key.count == keyByteCount, nonce.count == nonceByteCount else {
                throw CryptographyError("a key of AES-256-GCM must have 32 bytes, and a nonce 12")
            }
            guard let raw = EVP_CIPHER_CTX_new() else { throw CryptographyError("no memory for a cipher") }
            self.raw = raw
            guard EVP_CipherInit_ex(raw, EVP_aes_256_gcm(), nil, key, nonce, isEncrypting ? 1 : 0) == 1 else {
                throw CryptographyError("cannot start AES-256-GCM: \(openSSLMessage())")
            }
        }

        deinit {
            EVP_CIPHER_CTX_free(raw)
        }

        /// Encrypts or decrypts bytes, and authenticates others.
        func update(_ bytes: [UInt8], authenticating data: [UInt8]) throws(CryptographyError) -> [UInt8] {
            var count: CInt = 0
            var output = [UInt8](repeating: 0, count: bytes.count)
            guard let dataCount = CInt(exactly: data.count), let byteCount = CInt(exactly: bytes.count),
                data.isEmpty || EVP_CipherUpdate(raw, nil, &count, data, dataCount) == 1,
                bytes.isEmpty || EVP_CipherUpdate(raw, &output, &count, bytes, byteCount) == 1
            else { throw CryptographyError("cannot use AES-256-GCM: \(openSSLMessage())") }
            return output
        }

        /// Finishes; returns false for a decryption whose tag is wrong.
        func finish() -> Bool {
            var rest = [UInt8](repeating: 0, count: AES256GCM.tagByteCount)
            var count: CInt = 0
            return EVP_CipherFinal_ex(raw, &rest, &count) == 1
        }
    }
}
