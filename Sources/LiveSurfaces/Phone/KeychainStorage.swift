// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
    internal import Security

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A storage in the keychain of this device, readable after the first unlock.
    ///
    /// A backup restores the state on the same device only. It outlives the removal of the app, so that the app finds
    /// its installation after it is installed again.
    ///
    /// Source: "Restricting keychain item accessibility", kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly.
    public struct KeychainStorage: InstallationStorage {
        /// An error of the keychain.
        public struct KeychainError: Error, Sendable, Hashable, CustomStringConvertible {
            /// The status, as in `SecBase.h`.
            public let status: Int32

            /// A sentence with the status.
            public var description: String { "the keychain failed with status \(status)" }
        }

        private let accessGroup: String?

        /// Creates a storage.
        ///
        /// - Parameter accessGroup: The keychain access group that the app shares with its extensions, and with no
        ///   other app, which would share the installation; nil, the default, for an app without extensions that report
        ///   tokens.
        public init(accessGroup: String? = nil) {
            self.accessGroup = accessGroup
        }

        private var query: [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "martlet",
                kSecAttrAccount as String: "installation",
                // Of macOS, the keychain that has accessibility; of iOS, the only one.
                kSecUseDataProtectionKeychain as String: true,
            ]
            query[kSecAttrAccessGroup as String] = accessGroup
            return query
        }

        /// Reads the state that was saved last.
        ///
        /// - Returns: The state; nil if there is none.
        /// - Throws: ``KeychainError``, for example before the first unlock.
        public func load() throws -> [UInt8]? {
            var query = query
            query[kSecReturnData as String] = true
            var item: CFTypeRef?
            let status = unsafe SecItemCopyMatching(NSDictionary(dictionary: query) as CFDictionary, &item)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = item as? Data else { throw KeychainError(status: status) }
            return Array(data)
        }

        /// Replaces the state.
        ///
        /// - Parameter state: The new state.
        /// - Throws: ``KeychainError``, for example before the first unlock.
        public func save(_ state: [UInt8]) throws {
            let values: [String: Any] = [
                kSecValueData as String: Data(state),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(
                NSDictionary(dictionary: query) as CFDictionary,
                NSDictionary(dictionary: values) as CFDictionary
            )
            if status == errSecItemNotFound {
                let item = NSDictionary(dictionary: query.merging(values) { $1 })
                status = SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw KeychainError(status: status) }
        }
    }
#endif
