// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications)
    public import UserNotifications

    extension NotificationCategories {
        /// The categories with their actions, which the app registers when it launches:
        /// `UNUserNotificationCenter.current().setNotificationCategories(categories.registered)`.
        public var registered: Set<UNNotificationCategory> {
            Set(
                categories.map { category in
                    UNNotificationCategory(
                        identifier: category.id,
                        actions: category.actions.map(\.registered),
                        intentIdentifiers: []
                    )
                }
            )
        }
    }

    extension NotificationCategories.Action {
        fileprivate var registered: UNNotificationAction {
            var options: UNNotificationActionOptions = []
            if isForeground { options.insert(.foreground) }
            if isDestructive { options.insert(.destructive) }
            if requiresAuthentication { options.insert(.authenticationRequired) }
            return UNNotificationAction(identifier: id, title: title, options: options)
        }
    }
#endif
