// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of UserNotifications that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation

extension FileManager {
    /// https://developer.apple.com/documentation/foundation/filemanager/containerurl(forsecurityapplicationgroupidentifier:)
    ///
    /// Apple's Foundation declares it; the Foundation of Linux does not.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

extension URL {
    /// https://developer.apple.com/documentation/foundation/url/startaccessingsecurityscopedresource()
    ///
    /// Apple's Foundation declares it; the Foundation of Linux does not.
    public func startAccessingSecurityScopedResource() -> Bool { false }
    /// https://developer.apple.com/documentation/foundation/url/stopaccessingsecurityscopedresource()
    public func stopAccessingSecurityScopedResource() {}
}

// MARK: Content

/// https://developer.apple.com/documentation/usernotifications/unnotificationcontent
open class UNNotificationContent: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcontent/title
    open var title: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcontent/subtitle
    open var subtitle: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcontent/body
    open var body: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcontent/userinfo
    open var userInfo: [AnyHashable: Any] { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcontent/attachments
    open var attachments: [UNNotificationAttachment] { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/mutablecopy()
    open override func mutableCopy() -> Any { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/usernotifications/unmutablenotificationcontent
open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { fatalError("a stand-in") }
        set { fatalError("a stand-in") }
    }
    open override var subtitle: String {
        get { fatalError("a stand-in") }
        set { fatalError("a stand-in") }
    }
    open override var body: String {
        get { fatalError("a stand-in") }
        set { fatalError("a stand-in") }
    }
    open override var attachments: [UNNotificationAttachment] {
        get { fatalError("a stand-in") }
        set { fatalError("a stand-in") }
    }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationattachment
open class UNNotificationAttachment: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationattachment/init(identifier:url:options:)-83grx
    public convenience init(identifier: String, url URL: URL, options: [AnyHashable: Any]? = nil) throws {
        self.init()
    }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationattachment/identifier
    open var identifier: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationattachment/url
    open var url: URL { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationattachmentoptionstypehintkey
public let UNNotificationAttachmentOptionsTypeHintKey = ""
/// https://developer.apple.com/documentation/usernotifications/unnotificationattachmentoptionsthumbnailhiddenkey
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = ""
/// https://developer.apple.com/documentation/usernotifications/unnotificationattachmentoptionsthumbnailclippingrectkey
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey = ""
/// https://developer.apple.com/documentation/usernotifications/unnotificationattachmentoptionsthumbnailtimekey
public let UNNotificationAttachmentOptionsThumbnailTimeKey = ""

/// https://developer.apple.com/documentation/usernotifications/unnotificationrequest
open class UNNotificationRequest: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationrequest/identifier
    open var identifier: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unnotificationrequest/content
    open var content: UNNotificationContent { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/usernotifications/unnotification
open class UNNotification: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotification/request
    open var request: UNNotificationRequest { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension
open class UNNotificationServiceExtension: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension/didreceive(_:withcontenthandler:)
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    /// https://developer.apple.com/documentation/usernotifications/unnotificationserviceextension/serviceextensiontimewillexpire()
    open func serviceExtensionTimeWillExpire() {}
}

// MARK: Categories

/// https://developer.apple.com/documentation/usernotifications/unnotificationactionoptions
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
    public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
    public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationaction
open class UNNotificationAction: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationaction/init(identifier:title:options:)
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init()
    }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationcategoryoptions
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationcategory
open class UNNotificationCategory: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationcategory/init(identifier:actions:intentidentifiers:options:)
    public convenience init(
        identifier: String,
        actions: [UNNotificationAction],
        intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init()
    }
}

/// https://developer.apple.com/documentation/usernotifications/unusernotificationcenter
open class UNUserNotificationCenter: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unusernotificationcenter/current()
    open class func current() -> UNUserNotificationCenter { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/usernotifications/unusernotificationcenter/setnotificationcategories(_:)
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}
    /// https://developer.apple.com/documentation/usernotifications/unusernotificationcenter/notificationsettings()
    open func notificationSettings() async -> UNNotificationSettings { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/usernotifications/unauthorizationstatus
public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined, denied, authorized, provisional, ephemeral
}

/// https://developer.apple.com/documentation/usernotifications/unnotificationsettings
open class UNNotificationSettings: NSObject {
    /// https://developer.apple.com/documentation/usernotifications/unnotificationsettings/authorizationstatus
    open var authorizationStatus: UNAuthorizationStatus { fatalError("a stand-in") }
}
