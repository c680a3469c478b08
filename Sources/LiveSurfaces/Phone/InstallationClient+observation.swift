// SPDX-License-Identifier: Apache-2.0

#if canImport(ActivityKit) && os(iOS)
    public import ActivityKit
    internal import MartletCore
    internal import UserNotifications
    internal import WidgetKit

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension InstallationClient {
        /// Reports Live Activities and their tokens, the tokens of widgets and controls, permissions, and attributes,
        /// until the task is cancelled.
        ///
        /// The app itself reports the device token, and also:
        ///
        /// - the start of a Live Activity that it has started, with ``reportActivity(_:of:startedAt:by:)``: ActivityKit
        ///   does not tell who has started an activity, so others are reported as started by a push;
        /// - the end of a Live Activity that it ends, with ``reportEnd(ofActivity:by:at:)``, before it ends it.
        ///
        /// An end that the app has not reported is that of the system after eight hours. An activity that disappears
        /// before was removed by the user, and one that stays on the screen was ended by the app or by a push. The
        /// surface of an activity is the `surfaceId` of attributes that are ``SurfaceAttributes``, and otherwise the
        /// identifier of the activity, unless the app reports another surface.
        ///
        /// Call it at each launch, also in the background: the system launches the app when a push has started a Live
        /// Activity, so that it can report the token.
        ///
        /// Sources: "Starting and updating Live Activities with ActivityKit push notifications", "Updating widgets with
        /// WidgetKit push notifications".
        ///
        /// - Parameter types: The types of attributes of all Live Activities of the app.
        public nonisolated func observe<each Attributes: ActivityAttributes & Sendable>(
            activitiesOf types: repeat (each Attributes).Type
        ) async {
            await refresh()
            var ids: Set<String> = []
            for type in repeat each types { ids.formUnion(activityIDs(of: type)) }
            await endActivities(except: ids, at: .now)
            await withDiscardingTaskGroup { group in
                group.addTask {
                    let updates = ActivityAuthorizationInfo().activityEnablementUpdates
                    for await _ in updates { await self.reportPermissions() }
                }
                group.addTask {
                    let updates = ActivityAuthorizationInfo().frequentPushEnablementUpdates
                    for await _ in updates { await self.reportPermissions() }
                }
                for type in repeat each types { observe(type, in: &group) }
            }
        }

        /// Reports permissions, attributes, and the tokens of widgets and controls, and retries a request that has
        /// failed.
        ///
        /// Call it when the app comes to the foreground.
        public nonisolated func refresh() async {
            let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
            let system = ProcessInfo.processInfo.operatingSystemVersion
            var attributes: [PhoneAttribute: String] = [
                .locale: Locale.current.identifier(.bcp47), .timeZone: TimeZone.current.identifier,
                .systemVersion: "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)",
            ]
            attributes[.appVersion] = version
            await report(attributes)
            await reportPermissions()
            if let controls = try? await ControlCenter.shared.currentControls() {
                for control in controls {
                    if let token = control.pushInfo?.token { await report(token, for: .control(kind: control.kind)) }
                }
                await removeControls(except: Set(controls.map(\.kind)))
            }
            // Nil also means that the token does not exist yet, so it removes nothing.
            if #available(iOS 26, *), let info = await WidgetCenter.shared.currentPushInfo {
                await report(info.token, for: .widgets)
            }
            await retryNow()
        }

        /// Reports whether the user permits alerts, Live Activities and their frequent updates.
        private nonisolated func reportPermissions() async {
            let status = await UNUserNotificationCenter.current().notificationSettings().authorizationStatus
            let activities = ActivityAuthorizationInfo()
            await report([
                .alerts: status != .denied && status != .notDetermined,
                .liveActivities: activities.areActivitiesEnabled,
                .frequentUpdates: activities.frequentPushesEnabled,
            ])
        }

        // MARK: Live Activities

        private nonisolated func activityIDs<Attributes: ActivityAttributes>(of type: Attributes.Type) -> [String] {
            Activity<Attributes>.activities.map(\.id)
        }

        private nonisolated func observe<Attributes: ActivityAttributes & Sendable>(
            _ type: Attributes.Type,
            in group: inout DiscardingTaskGroup
        ) {
            let name = (type as? any LiveActivityAttributes.Type)?.attributesType ?? String(describing: type)
            group.addTask {
                let slot = PushTokenSlot.start(attributesType: name)
                // Not every version of iOS repeats in the sequence a token that it has issued before.
                if let token = Activity<Attributes>.pushToStartToken { await self.report(token, for: slot) }
                for await token in Activity<Attributes>.pushToStartTokenUpdates { await self.report(token, for: slot) }
            }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    var observed: Set<String> = []
                    for activity in Activity<Attributes>.activities where observed.insert(activity.id).inserted {
                        group.addTask { await self.observe(activity) }
                    }
                    for await activity in Activity<Attributes>.activityUpdates
                    where observed.insert(activity.id).inserted {
                        group.addTask { await self.observe(activity) }
                    }
                }
            }
        }

        /// Reports a Live Activity, its token, and its end.
        private nonisolated func observe<Attributes: ActivityAttributes & Sendable>(
            _ activity: Activity<Attributes>
        ) async {
            let id = activity.id
            let end: ActivityState?
            if activity.activityState.isFinal {
                end = activity.activityState
            } else {
                let surface = (activity.attributes as? any SurfaceAttributes)?.surfaceId ?? id
                await reportActivity(id, of: surface, startedAt: .now, by: .push)
                end = await withDiscardingTaskGroup(returning: ActivityState?.self) { group in
                    group.addTask {
                        if let token = activity.pushToken { await self.report(token, forActivity: id) }
                        for await token in activity.pushTokenUpdates { await self.report(token, forActivity: id) }
                    }
                    defer { group.cancelAll() }
                    for await state in activity.activityStateUpdates where state.isFinal { return state }
                    return nil
                }
            }
            guard !Task.isCancelled else { return }
            await observeEnd(ofActivity: id, isDismissed: end != .ended, at: .now)
        }
    }

    extension ActivityState {
        /// Whether a Live Activity in this state accepts no update.
        fileprivate var isFinal: Bool { self == .ended || self == .dismissed }
    }
#endif
