// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletTransport

extension ParsedProviderToken {
    /// Returns whether a key made the signature, with the hash function of the algorithm that the header names.
    package func isSigned(by key: ES256PublicKey) -> Bool {
        let hash: SignatureHash = deviations.contains(.es512Signature) ? .sha512 : .sha256
        return key.isValid(signature: signature, for: signingInput, hash: hash)
    }
}
