// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The text of a private key or of certificates that OpenSSL cannot read: the text without the damage, or the cause.
///
/// Variables, secret stores and YAML files often change the line breaks of PEM. DER states its own length, so text
/// whose base64 is complete has one meaning.
struct KeyText {
    /// A block of PEM (RFC 7468).
    private struct Block {
        /// The label in upper case without blanks, such as `PRIVATEKEY`.
        let label: String
        var body: Substring = ""
        var isClosed = false

        var isPrivateKey: Bool { label.hasSuffix("PRIVATEKEY") }
        var isCertificate: Bool { label == "CERTIFICATE" || label == "X509CERTIFICATE" }
    }

    /// The cause for a certificate in place of a certificate with its key.
    static let certificateAlone =
        "the certificate is without its private key: add the key to the file, or export both from the Keychain as a "
        + "PKCS#12 file (.p12)"
    /// The cause for an encrypted key without a password.
    static let missingPassword =
        "the private key is encrypted, and no password was given (a .p8 file from Apple is not encrypted; "
        + "openssl pkey -in FILE decrypts other keys)"

    /// The maximum length of a label without blanks.
    private static let longestLabel = 40

    private let text: String
    private let blocks: [Block]

    /// Parses a text, which may be PEM in base64.
    init(_ text: String) {
        let plain = KeyText.unescaped(text)
        let decoded = plain.contains("BEGIN") ? nil : PEMText.decoded(plain)
        self.text = decoded.map { $0.contains("BEGIN") ? KeyText.unescaped($0) : plain } ?? plain
        blocks = KeyText.blocks(of: self.text)
    }

    /// Replaces escaped line breaks, such as those of a JSON string, and removes the backslashes of other escapes.
    private static func unescaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            let isLineBreak = isEscaped && (scalar == "n" || scalar == "r")
            if scalar != "\\" { result.append(isLineBreak ? "\n" : scalar) }
            isEscaped = scalar == "\\"
        }
        return String(result)
    }

    private static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        // The text before the end of a block whose first line is missing.
        var loose: Substring = ""
        // Editors replace hyphens by dashes.
        for part in text.split(whereSeparator: { $0 == "-" || $0 == "–" || $0 == "—" }) {
            if let label = label(in: part, after: "BEGIN") {
                blocks.append(Block(label: label))
            } else if let label = label(in: part, after: "END") {
                if let last = blocks.indices.last, !blocks[last].isClosed {
                    blocks[last].isClosed = true
                } else {
                    blocks.append(Block(label: label, body: loose, isClosed: true))
                }
                loose = ""
            } else if let last = blocks.indices.last, !blocks[last].isClosed {
                blocks[last].body += part
            } else {
                loose = part
            }
        }
        return blocks
    }

    private static func label(in part: Substring, after word: String) -> String? {
        let letters = part.filter { !$0.isWhitespace }.uppercased()
        guard letters.count <= longestLabel, letters.hasPrefix(word) else { return nil }
        return String(letters.dropFirst(word.count))
    }

    /// Whether the text has a block that is labelled as a private key.
    var hasPrivateKey: Bool { blocks.contains(where: \.isPrivateKey) }

    /// Whether the text is a private key that can be read, without a certificate.
    var isOnlyPrivateKey: Bool { repaired != nil && !blocks.contains(where: \.isCertificate) }

    // MARK: Repair

    /// The key as PEM that OpenSSL can read, with one of its own labels; nil when the text is not one complete key.
    var repaired: String? {
        let body: Substring
        if let block = blocks.first(where: \.isPrivateKey) {
            body = block.body
        } else {
            guard blocks.isEmpty else { return nil }
            body = text[...]
        }
        guard let der = KeyText.der(of: body), let label = KeyText.label(of: der) else { return nil }
        return KeyText.pem(label, der)
    }

    /// The certificates as PEM that OpenSSL can read, in the order of the text; nil when the text has none, or one that
    /// is incomplete.
    var repairedCertificates: String? {
        let bodies = blocks.isEmpty ? [text[...]] : blocks.filter(\.isCertificate).map(\.body)
        var chain = ""
        for body in bodies {
            guard let der = KeyText.der(of: body), KeyText.isCertificate(der) else { return nil }
            chain += KeyText.pem("CERTIFICATE", der)
        }
        return chain.isEmpty ? nil : chain
    }

    /// Returns whether bytes have the structure of a certificate.
    static func isCertificate(_ der: [UInt8]) -> Bool {
        guard let (first, second) = elements(of: der) else { return false }
        return first.tag == DERReader.sequence && second.tag == DERReader.sequence
    }

    private static func pem(_ label: String, _ der: [UInt8]) -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// Returns the bytes of base64 text, without regard to blanks, quotation marks and commas; nil for other text.
    static func der(of body: Substring) -> [UInt8]? {
        var base64 = body.unicodeScalars.filter { !isFiller($0) }.map { Character($0) }
        while base64.last == "=" { base64.removeLast() }
        guard base64.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") }) else {
            return nil
        }
        let start = base64.prefix(base64.count / 4 * 4)
        while !base64.count.isMultiple(of: 4) { base64.append("=") }
        // Of truncated text, the last characters may not be valid base64.
        return (Data(base64Encoded: String(base64)) ?? Data(base64Encoded: String(start))).map { [UInt8]($0) }
    }

    private static func isFiller(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "'", "`", ",", "\u{200B}", "\u{FEFF}": true
        default: scalar.properties.isWhitespace
        }
    }

    /// Returns the label for the DER of a private key, by its structure; nil when it is incomplete or something else.
    private static func label(of der: [UInt8]) -> String? {
        guard let (first, second) = elements(of: der) else { return nil }
        switch (first.tag, second.tag) {
        case (DERReader.integer, DERReader.sequence): return PKCS12Contents.isPKCS12(der) ? nil : "PRIVATE KEY"
        case (DERReader.integer, DERReader.octetString): return "EC PRIVATE KEY"
        case (DERReader.integer, DERReader.integer): return "RSA PRIVATE KEY"
        case (DERReader.sequence, DERReader.octetString): return "ENCRYPTED PRIVATE KEY"
        default: return nil
        }
    }

    private typealias Element = (tag: UInt8, content: ArraySlice<UInt8>)

    /// Returns the first two elements of a complete sequence in DER.
    private static func elements(of der: [UInt8]) -> (Element, Element)? {
        var outer = DERReader(der[...])
        guard let sequence = outer.next(), sequence.tag == DERReader.sequence, outer.isAtEnd else { return nil }
        var inner = DERReader(sequence.content)
        guard let first = inner.next(), let second = inner.next() else { return nil }
        return (first, second)
    }

    // MARK: Causes

    /// Returns the reason for which the text is not a private key, as a sentence without the final stop.
    ///
    /// - Parameter hasPassword: Whether a password for an encrypted key was given.
    /// - Returns: The reason, which contains no part of the text.
    func problem(hasPassword: Bool) -> String {
        if text.allSatisfy(\.isWhitespace) { return "the key is empty" }
        if let key = blocks.first(where: \.isPrivateKey) { return problem(of: key, hasPassword: hasPassword) }
        if let label = blocks.first?.label {
            return "this is \(KeyText.kind(of: label)), not a private key"
        }
        if let der = KeyText.der(of: text[...]), der.first == DERReader.sequence, der.count >= 32 {
            return problem(of: der, hasPassword: hasPassword)
        }
        return "the key must be PEM text, which begins with the line \"-----BEGIN PRIVATE KEY-----\"" + found
    }

    private static func kind(of label: String) -> String {
        if label.hasSuffix("PUBLICKEY") { return "a public key" }
        if label.hasSuffix("CERTIFICATEREQUEST") { return "a certificate request" }
        return label.hasSuffix("CERTIFICATE") ? "a certificate" : "other PEM text"
    }

    /// The kind of a text that is not PEM, as the end of a message; empty if it is not known.
    private var found: String {
        let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if start.hasPrefix("<") { return " (found HTML or XML, such as the page of a failed download)" }
        if start.hasPrefix("{") { return " (found JSON)" }
        if start.hasPrefix("eyJ") { return " (found a JSON Web Token)" }
        if text.unicodeScalars.contains(where: { $0 == "\u{FFFD}" || $0 == "\0" }) { return " (found binary data)" }
        if start.hasPrefix("/") || start.contains(".p8") || start.contains(".pem") { return " (found a path)" }
        return ""
    }

    private func problem(of key: Block, hasPassword: Bool) -> String {
        if text.contains("Proc-Type") || !hasPassword && key.label.hasPrefix("ENCRYPTED") {
            return KeyText.encrypted(hasPassword)
        }
        if key.label.hasPrefix("OPENSSH") {
            return "the private key is in the format of OpenSSH: convert it with ssh-keygen -p -m PKCS8"
        }
        guard let der = KeyText.der(of: key.body) else {
            return "the private key cannot be read: it contains characters that base64 does not have"
        }
        return problem(of: der, hasPassword: hasPassword)
    }

    private func problem(of der: [UInt8], hasPassword: Bool) -> String {
        var reader = DERReader(der[...])
        guard der.first == DERReader.sequence else { return "the private key cannot be read: it is damaged" }
        guard reader.next() != nil else { return "the private key cannot be read: it is truncated" }
        guard reader.isAtEnd, let (first, second) = KeyText.elements(of: der) else {
            return "the private key cannot be read: it is damaged"
        }
        switch (first.tag, second.tag) {
        case (DERReader.sequence, DERReader.octetString): return KeyText.encrypted(hasPassword)
        case (DERReader.sequence, DERReader.bitString): return "this is a public key, not a private key"
        case (DERReader.sequence, DERReader.sequence): return "this is a certificate, not a private key"
        case (DERReader.integer, DERReader.sequence) where PKCS12Contents.isPKCS12(der):
            return "this is a PKCS#12 file (.p12), not a private key"
        default: return "the private key cannot be read: its content is not a key that can be used"
        }
    }

    private static func encrypted(_ hasPassword: Bool) -> String {
        hasPassword
            ? "the private key is encrypted, and cannot be decrypted with this password"
            : missingPassword
    }
}
