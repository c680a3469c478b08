// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The encryption of what an outbox stores about devices: tokens, payloads, the requests of jobs and surfaces, and the
/// states of sessions.
///
/// Its keys follow from the data key of the outbox, which the outbox stores as a ``SealedKey``. Two forms exist:
///
/// - A payload, a request and a state are encrypted with a key of their own, which follows from the row that they
///   belong to. Therefore they are only opened in that row: the app, the environment, the identifier, the destination,
///   the headers and the expiry of a push are authenticated.
/// - A token and the fingerprint of a job or a surface are found by their value. They are encrypted with a nonce that
///   is a keyed hash of their value and the app, so that the same value has the same form in all tables. A copy of the
///   outbox therefore shows which rows of an app have the same token, and not which token.
package struct OutboxSeal: Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a data key in bytes.
    private static let dataKeyByteCount = 32

    private let tokenKey: [UInt8]
    private let tokenHashKey: [UInt8]
    private let contentKey: [UInt8]
    private let fingerprintKey: [UInt8]

    /// A fixed text, because texts appear in logs.
    package var description: String { "OutboxSeal" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns a random data key.
    static func newDataKey() -> [UInt8] { Envelope.random(dataKeyByteCount) }

    /// Derives the keys from a data key.
    init(dataKey: [UInt8]) throws(CryptographyError) {
        func key(_ purpose: String) throws(CryptographyError) -> [UInt8] {
            try SHA256.authenticationCode(of: Array("martlet \(purpose)".utf8), key: dataKey)
        }
        tokenKey = try key("token")
        tokenHashKey = try key("token hash")
        contentKey = try key("content")
        fingerprintKey = try key("fingerprint")
    }

    // MARK: Values of one row

    private func sealContent(_ bytes: [UInt8], _ context: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let key = try SHA256.authenticationCode(of: context, key: contentKey)
        return try Envelope.seal(bytes, key: key, authenticating: context)
    }

    private func openContent(_ sealed: [UInt8], _ context: [UInt8]) -> [UInt8]? {
        guard let key = try? SHA256.authenticationCode(of: context, key: contentKey) else { return nil }
        return try? Envelope.open(sealed, key: key, authenticating: context)
    }

    // MARK: Values that are found

    /// Returns the sealed form of a token of an app, which is a token for the store.
    func seal(_ token: DeviceToken, of app: String) throws(CryptographyError) -> DeviceToken {
        var digits: [UInt8] = []
        for byte in try sealFound(token.bytes, "token", of: app) { digits.appendHexadecimal(byte) }
        guard let sealed = DeviceToken(stored: String(decoding: digits, as: UTF8.self)) else {
            throw CryptographyError("a token cannot be sealed")
        }
        return sealed
    }

    /// Returns the token of a sealed form; nil if it was not sealed for the app with this data key.
    func open(_ sealed: DeviceToken, of app: String) -> DeviceToken? {
        openFound(sealed.bytes, "token", of: app).flatMap { try? DeviceToken(bytes: $0) }
    }

    private func sealFound(_ bytes: [UInt8], _ kind: String, of app: String) throws(CryptographyError) -> [UInt8] {
        let context = OutboxSeal.context([kind, app])
        let hash = try SHA256.authenticationCode(of: context + bytes, key: tokenHashKey)
        let nonce = Array(hash.prefix(AES256GCM.nonceByteCount))
        return try Envelope.seal(bytes, key: tokenKey, nonce: nonce, authenticating: context)
    }

    private func openFound(_ sealed: [UInt8], _ kind: String, of app: String) -> [UInt8]? {
        try? Envelope.open(sealed, key: tokenKey, authenticating: OutboxSeal.context([kind, app]))
    }

    /// The length of a sealed fingerprint of a push, which differs from that of a plain one.
    static let fingerprintByteCount = 20

    /// Returns the first 20 bytes of a keyed hash of a push's fingerprint, which would reveal a payload that can be
    /// guessed.
    func seal(fingerprint: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let code = try SHA256.authenticationCode(of: fingerprint, key: fingerprintKey)
        return Array(code.prefix(OutboxSeal.fingerprintByteCount))
    }

    // MARK: Pushes

    /// Returns a push as it is stored, with the hashes of that form.
    func seal(_ hashed: HashedPush) throws(CryptographyError) -> HashedPush {
        var push = hashed.push
        if case .device(let token) = push.destination {
            let sealed = try seal(token, of: push.lane.app)
            push.destination = .device(sealed)
            // An order key of a device contains its token.
            push.orderKey = push.orderKey?.replacing(token.hex, with: sealed.hex)
        }
        push.sourceRequest = nil
        push.payload = try sealContent(push.payload, OutboxSeal.context(of: push))
        return HashedPush(stored: push, fingerprint: try sealFingerprint(of: hashed).fingerprint)
    }

    /// Returns a push of which only the fingerprint is sealed, to be compared with stored pushes.
    func sealFingerprint(of hashed: HashedPush) throws(CryptographyError) -> HashedPush {
        var sealed = hashed
        if let plain = hashed.fingerprint { sealed.fingerprint = try seal(fingerprint: plain) }
        return sealed
    }

    /// Returns a push as it was accepted; nil if the stored one is damaged or has another place.
    func open(_ stored: OutboxPush) -> OutboxPush? {
        var push = stored
        guard let payload = openContent(stored.payload, OutboxSeal.context(of: stored)) else { return nil }
        push.payload = payload
        if case .device(let sealed) = stored.destination {
            guard let token = open(sealed, of: stored.lane.app) else { return nil }
            push.destination = .device(token)
            push.orderKey = stored.orderKey?.replacing(sealed.hex, with: token.hex)
        }
        return push
    }

    /// Returns what is authenticated with the payload of a push: the row that it belongs to.
    private static func context(of push: OutboxPush) -> [UInt8] {
        context(["push"] + push.storedWords) + push.id.bytes
    }

    // MARK: Plain rows

    /// Returns the sealed form of a stored token; nil if it is sealed, or has no digits.
    func sealedForm(ofStored digits: String, of app: String) throws(CryptographyError) -> String? {
        guard let token = DeviceToken(stored: digits), open(token, of: app) == nil else { return nil }
        return try seal(token, of: app).hex
    }

    /// Returns the sealed form of a stored push, whose checksum does not match if that of the push does not; nil if the
    /// push is sealed.
    func sealedForm(
        ofStored push: OutboxPush,
        fingerprint: [UInt8]?,
        checksum: Int64?
    ) throws(CryptographyError) -> (push: OutboxPush, fingerprint: [UInt8]?, checksum: Int64?)? {
        guard open(push) == nil else { return nil }
        let sealed = try seal(HashedPush(stored: push, fingerprint: fingerprint))
        let isDamaged = push.differs(from: checksum)
        return (sealed.push, sealed.fingerprint, isDamaged ? sealed.checksum.map { ~$0 } : sealed.checksum)
    }

    /// Returns the sealed form of the stored fingerprint of an outcome; nil if it is sealed.
    func sealedForm(ofStored fingerprint: [UInt8]) throws(CryptographyError) -> [UInt8]? {
        fingerprint.count == OutboxSeal.fingerprintByteCount ? nil : try seal(fingerprint: fingerprint)
    }

    // MARK: Jobs

    /// Returns a job as it is stored.
    func seal(_ job: Job) throws(CryptographyError) -> Job {
        var sealed = job
        sealed.request = try sealContent(job.request, OutboxSeal.context(of: job))
        sealed.fingerprint = try sealFound(job.fingerprint, "job", of: job.app)
        return sealed
    }

    /// Returns a job as it was created; nil if the stored one is damaged or has another place.
    func open(_ stored: Job) -> Job? {
        var job = stored
        guard let request = openContent(stored.request, OutboxSeal.context(of: stored)),
            let fingerprint = openFound(stored.fingerprint, "job", of: stored.app)
        else { return nil }
        job.request = request
        job.fingerprint = fingerprint
        return job
    }

    private static func context(of job: Job) -> [UInt8] { context(["job", job.app]) + job.id.bytes }

    // MARK: Surfaces

    /// Returns a surface as it is stored.
    func seal(_ surface: Surface) throws(CryptographyError) -> Surface {
        var sealed = surface
        sealed.request = try sealContent(surface.request, OutboxSeal.context(of: surface))
        sealed.fingerprint = try sealFound(surface.fingerprint, "surface", of: surface.app)
        return sealed
    }

    /// Returns a surface as it was put; nil if the stored one is damaged or has another place.
    func open(_ stored: Surface) -> Surface? {
        var surface = stored
        guard let request = openContent(stored.request, OutboxSeal.context(of: stored)),
            let fingerprint = openFound(stored.fingerprint, "surface", of: stored.app)
        else { return nil }
        surface.request = request
        surface.fingerprint = fingerprint
        return surface
    }

    private static func context(of surface: Surface) -> [UInt8] { context(["surface", surface.app, surface.id]) }

    /// Returns the state of a session as it is stored.
    func seal(state: [UInt8], of place: SessionPlace) throws(CryptographyError) -> [UInt8] {
        try sealContent(state, OutboxSeal.context(of: place))
    }

    /// Returns the state of a session, which is empty before the first step; nil if the stored one is damaged or has
    /// another place.
    func open(state stored: [UInt8], of place: SessionPlace) -> [UInt8]? {
        stored.isEmpty ? [] : openContent(stored, OutboxSeal.context(of: place))
    }

    private static func context(of place: SessionPlace) -> [UInt8] {
        context(["session", place.app, place.surface]) + place.installation.bytes
    }

    // MARK: Installations

    /// Returns an installation with sealed tokens.
    func seal(_ installation: Installation) throws(CryptographyError) -> Installation {
        var sealed = installation
        for (slot, registered) in installation.tokens {
            sealed.tokens[slot]?.token = try seal(registered.token, of: installation.app)
        }
        return sealed
    }

    /// Returns an installation with the tokens that can be opened.
    func open(_ stored: Installation) -> Installation {
        var installation = stored
        for (slot, registered) in stored.tokens {
            guard let token = open(registered.token, of: stored.app) else {
                installation.tokens[slot] = nil
                continue
            }
            installation.tokens[slot]?.token = token
        }
        return installation
    }

    /// Returns words, each with a line break, which no word contains, as bytes.
    private static func context(_ words: [String?]) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            bytes += (word ?? "").utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
