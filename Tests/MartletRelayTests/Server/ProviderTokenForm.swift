// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletTransport
import TestSupport

/// A provider token as one client writes it.
struct ProviderTokenForm: Sendable {
    /// The header, with `KID` in place of the key's identifier.
    var header = #"{"alg":"ES256","kid":"KID","typ":"JWT"}"#
    /// The claims, with `TEAM` and `IAT` in place of the team's identifier and ``issuedAt``.
    var claims = #"{"iss":"TEAM","iat":IAT}"#
    /// The value of `iat` as JSON, with `NOW` in place of the seconds since 1970.
    var issuedAt = "NOW"
    /// Whether the signature is DER instead of 64 bytes.
    var isDER = false
    /// Whether the parts are in standard base64 with padding instead of base64url.
    var isStandardBase64 = false

    /// Returns the value of `authorization`.
    func authorization(at now: Int64, keyID: String, teamID: String, key: ES256PrivateKey) throws -> String {
        let input = input(at: now, keyID: keyID, teamID: teamID)
        let signature = try key.sign(Array(input.utf8))
        return "bearer " + input + "." + encode(isDER ? JWTEncoding.der(signature) : signature)
    }

    /// Returns the value of `authorization` with a signature of ES512, which ``header`` has to name.
    func es512Authorization(
        at now: Int64,
        keyID: String,
        teamID: String,
        key: ES256PrivateKey
    ) async throws -> String {
        let input = input(at: now, keyID: keyID, teamID: teamID)
        let signature = try await JWTEncoding.es512(input, keyPEM: key.pem())
        return "bearer " + input + "." + JWTEncoding.base64URL(signature)
    }

    /// Returns the header and the claims.
    private func input(at now: Int64, keyID: String, teamID: String) -> String {
        let header = header.replacing("KID", with: keyID)
        let time = issuedAt.replacing("NOW", with: "\(now)")
        let claims = claims.replacing("TEAM", with: teamID).replacing("KID", with: keyID).replacing("IAT", with: time)
        return encode(Array(header.utf8)) + "." + encode(Array(claims.utf8))
    }

    private func encode(_ bytes: [UInt8]) -> String {
        isStandardBase64 ? Data(bytes).base64EncodedString() : JWTEncoding.base64URL(bytes)
    }
}
