// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of Security and Core Foundation that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation

/// https://developer.apple.com/documentation/corefoundation/cftyperef
public typealias CFTypeRef = AnyObject
/// https://developer.apple.com/documentation/corefoundation/cfdictionary
public typealias CFDictionary = NSDictionary
/// https://developer.apple.com/documentation/kernel/osstatus
public typealias OSStatus = Int32

// The keys and values are a CFString, which is not bridged to a String here.

/// https://developer.apple.com/documentation/security/ksecclass
public let kSecClass = ""
/// https://developer.apple.com/documentation/security/ksecclassgenericpassword
public let kSecClassGenericPassword = ""
/// https://developer.apple.com/documentation/security/ksecattrservice
public let kSecAttrService = ""
/// https://developer.apple.com/documentation/security/ksecattraccount
public let kSecAttrAccount = ""
/// https://developer.apple.com/documentation/security/ksecattraccessgroup
public let kSecAttrAccessGroup = ""
/// https://developer.apple.com/documentation/security/ksecattraccessible
public let kSecAttrAccessible = ""
/// https://developer.apple.com/documentation/security/ksecattraccessibleafterfirstunlockthisdeviceonly
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = ""
/// https://developer.apple.com/documentation/security/ksecusedataprotectionkeychain
public let kSecUseDataProtectionKeychain = ""
/// https://developer.apple.com/documentation/security/ksecreturndata
public let kSecReturnData = ""
/// https://developer.apple.com/documentation/security/ksecvaluedata
public let kSecValueData = ""

/// https://developer.apple.com/documentation/security/errsecsuccess
public let errSecSuccess: OSStatus = 0
/// https://developer.apple.com/documentation/security/errsecitemnotfound
public let errSecItemNotFound: OSStatus = -25300

/// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
/// https://developer.apple.com/documentation/security/secitemadd(_:_:)
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
/// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
