// SPDX-License-Identifier: Apache-2.0

// The delegate of the app, which the system launches in the background for a push.
#if os(iOS) && canImport(ActivityKit)
    import Foundation
    import LiveSurfaces
    import UIKit

    final class ShopDelegate: NSObject, UIApplicationDelegate {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            application.registerForRemoteNotifications()
            Task {
                if let user = appGroup?.string(forKey: "user") {
                    await installation.signIn(user)
                } else if application.isProtectedDataAvailable {
                    // A locked phone may not let the app read the user.
                    await installation.signOut()
                }
                await installation.observe(activitiesOf: SurfaceActivityAttributes.self)
            }
            return true
        }

        func application(
            _ application: UIApplication,
            didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
        ) {
            Task { await installation.report(deviceToken, for: .device) }
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
