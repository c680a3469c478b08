// SPDX-License-Identifier: Apache-2.0

// The delegate of the app, which the system launches in the background for a push.
#if os(iOS) && canImport(ActivityKit)
    import Foundation
    import UIKit

    final class ShopDelegate: NSObject, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            application.registerForRemoteNotifications()
            observeActivities { token in
                await report([token], as: .activityStart)
            } register: { token in
                await report([token], as: .activity)
            }
            return true
        }

        func application(
            _ application: UIApplication,
            didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            Task { await report([deviceToken], as: .device) }
        }

        func application(
            _ application: UIApplication,
            didReceiveRemoteNotification userInfo: [AnyHashable: Any]
        ) async -> UIBackgroundFetchResult {
            do {
                try receive(userInfo)
                return .newData
            } catch {
                return .failed
            }
        }
    }
#endif
