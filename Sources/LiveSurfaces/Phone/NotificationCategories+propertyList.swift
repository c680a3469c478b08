// SPDX-License-Identifier: Apache-2.0

extension NotificationCategories {
    /// The `Info.plist` of a content extension for the categories, an XML property list.
    ///
    /// Xcode adds the keys that every bundle has. Source: "UNNotificationExtensionCategory".
    public var contentExtensionPropertyList: String {
        let names = ids.map { "\t\t\t\t<string>\($0)</string>\n" }.joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>NSExtension</key>
            \t<dict>
            \t\t<key>NSExtensionAttributes</key>
            \t\t<dict>
            \t\t\t<key>UNNotificationExtensionCategory</key>
            \t\t\t<array>
            \(names)\t\t\t</array>
            \t\t\t<key>UNNotificationExtensionInitialContentSizeRatio</key>
            \t\t\t<real>0.4</real>
            \t\t</dict>
            \t\t<key>NSExtensionPointIdentifier</key>
            \t\t<string>com.apple.usernotifications.content-extension</string>
            \t\t<key>NSExtensionPrincipalClass</key>
            \t\t<string>$(PRODUCT_MODULE_NAME).NotificationContent</string>
            \t</dict>
            </dict>
            </plist>

            """
    }
}
