// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of WidgetKit that the phone's code uses, for Scripts/check phone.

public import AppIntents
@_exported public import Foundation
public import SwiftUI

// MARK: Timelines

/// https://developer.apple.com/documentation/widgetkit/timelineentry
public protocol TimelineEntry {
    /// https://developer.apple.com/documentation/widgetkit/timelineentry/date
    var date: Date { get }
}

/// https://developer.apple.com/documentation/widgetkit/timelinereloadpolicy
public struct TimelineReloadPolicy: Sendable {
    public static let atEnd = TimelineReloadPolicy()
    public static let never = TimelineReloadPolicy()
    public static func after(_ date: Date) -> TimelineReloadPolicy { TimelineReloadPolicy() }
}

/// https://developer.apple.com/documentation/widgetkit/timeline
public struct Timeline<EntryType: TimelineEntry> {
    /// https://developer.apple.com/documentation/widgetkit/timeline/init(entries:policy:)
    public init(entries: [EntryType], policy: TimelineReloadPolicy) {}
}

/// https://developer.apple.com/documentation/widgetkit/timelineprovidercontext
public struct TimelineProviderContext: Sendable {
    public let isPreview: Bool
}

/// https://developer.apple.com/documentation/widgetkit/timelineprovider
public protocol TimelineProvider {
    associatedtype Entry: TimelineEntry
    typealias Context = TimelineProviderContext
    /// https://developer.apple.com/documentation/widgetkit/timelineprovider/placeholder(in:)
    func placeholder(in context: Self.Context) -> Self.Entry
    /// https://developer.apple.com/documentation/widgetkit/timelineprovider/getsnapshot(in:completion:)
    @preconcurrency func getSnapshot(in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
    /// https://developer.apple.com/documentation/widgetkit/timelineprovider/gettimeline(in:completion:)
    @preconcurrency func getTimeline(
        in context: Self.Context,
        completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void
    )
}

// MARK: Widgets

/// https://developer.apple.com/documentation/widgetkit/widgetfamily
public enum WidgetFamily: Sendable {
    case systemSmall, systemMedium, systemLarge, accessoryCircular, accessoryRectangular, accessoryInline
}

/// https://developer.apple.com/documentation/widgetkit/staticconfiguration
@MainActor @preconcurrency public struct StaticConfiguration<Content: View>: WidgetConfiguration {
    /// https://developer.apple.com/documentation/widgetkit/staticconfiguration/init(kind:provider:content:)
    public init<Provider: TimelineProvider>(
        kind: String,
        provider: Provider,
        @ViewBuilder content: @escaping (Provider.Entry) -> Content
    ) {}
}

extension WidgetConfiguration {
    /// https://developer.apple.com/documentation/swiftui/widgetconfiguration/configurationdisplayname(_:)
    public func configurationDisplayName<Name: StringProtocol>(_ displayName: Name) -> some WidgetConfiguration { self }
    /// https://developer.apple.com/documentation/swiftui/widgetconfiguration/supportedfamilies(_:)
    public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration { self }
}

/// https://developer.apple.com/documentation/widgetkit/widgetcenter
public final class WidgetCenter: Sendable {
    /// https://developer.apple.com/documentation/widgetkit/widgetcenter/shared
    public static let shared = WidgetCenter()
    /// https://developer.apple.com/documentation/widgetkit/widgetcenter/reloadalltimelines()
    public func reloadAllTimelines() {}
    /// https://developer.apple.com/documentation/widgetkit/widgetcenter/reloadtimelines(ofkind:)
    public func reloadTimelines(ofKind kind: String) {}
    /// https://developer.apple.com/documentation/widgetkit/widgetcenter/currentpushinfo
    public var currentPushInfo: WidgetPushInfo? { get async { nil } }
}

// MARK: Push tokens

/// https://developer.apple.com/documentation/widgetkit/widgetinfo
public struct WidgetInfo: Sendable {
    public let kind: String
}

/// https://developer.apple.com/documentation/widgetkit/widgetpushinfo
public struct WidgetPushInfo: Sendable {
    /// https://developer.apple.com/documentation/widgetkit/widgetpushinfo/token
    public let token: Data
}

/// https://developer.apple.com/documentation/widgetkit/widgetpushhandler
public protocol WidgetPushHandler {
    init()
    /// https://developer.apple.com/documentation/widgetkit/widgetpushhandler/pushtokendidchange(_:widgets:)
    func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo])
}

extension WidgetConfiguration {
    /// https://developer.apple.com/documentation/swiftui/widgetconfiguration/pushhandler(_:)
    @MainActor @preconcurrency public func pushHandler(
        _ pushHandlerType: any WidgetPushHandler.Type
    ) -> some WidgetConfiguration { self }
}

/// https://developer.apple.com/documentation/widgetkit/controlpushinfo
public struct ControlPushInfo: Sendable {
    /// https://developer.apple.com/documentation/widgetkit/controlpushinfo/token
    public let token: Data
}

/// https://developer.apple.com/documentation/widgetkit/controlinfo
public struct ControlInfo: Sendable {
    public let kind: String
    /// https://developer.apple.com/documentation/widgetkit/controlinfo/pushinfo
    public let pushInfo: ControlPushInfo?
}

/// https://developer.apple.com/documentation/widgetkit/controlpushhandler
public protocol ControlPushHandler {
    /// https://developer.apple.com/documentation/widgetkit/controlpushhandler/init()
    init()
    /// https://developer.apple.com/documentation/widgetkit/controlpushhandler/pushtokensdidchange(controls:)
    func pushTokensDidChange(controls: [ControlInfo])
}

extension ControlWidgetConfiguration {
    /// https://developer.apple.com/documentation/swiftui/controlwidgetconfiguration/pushhandler(_:)
    @MainActor @preconcurrency public func pushHandler(
        _ pushHandlerType: any ControlPushHandler.Type
    ) -> some ControlWidgetConfiguration { self }
}

// MARK: Live Activities

#if canImport(ActivityKit)
    public import ActivityKit

    /// https://developer.apple.com/documentation/widgetkit/activityviewcontext
    public struct ActivityViewContext<Attributes: ActivityAttributes> {
        public let attributes: Attributes
        public let state: Attributes.ContentState
        public let activityID: String
        public let isStale: Bool
    }

    /// https://developer.apple.com/documentation/widgetkit/activityconfiguration
    @MainActor @preconcurrency public struct ActivityConfiguration<Attributes: ActivityAttributes>: WidgetConfiguration {
        /// https://developer.apple.com/documentation/widgetkit/activityconfiguration/init(for:content:dynamicisland:)
        public init<Content: View>(
            for attributesType: Attributes.Type,
            @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> Content,
            dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
        ) {}
    }
#endif

/// https://developer.apple.com/documentation/widgetkit/dynamicisland
public struct DynamicIsland {
    /// https://developer.apple.com/documentation/widgetkit/dynamicisland/init(expanded:compactleading:compacttrailing:minimal:)
    public init<Expanded: View, CompactLeading: View, CompactTrailing: View, Minimal: View>(
        @DynamicIslandExpandedContentBuilder expanded: @escaping () -> DynamicIslandExpandedContent<Expanded>,
        @ViewBuilder compactLeading: @escaping () -> CompactLeading,
        @ViewBuilder compactTrailing: @escaping () -> CompactTrailing,
        @ViewBuilder minimal: @escaping () -> Minimal
    ) {}

    /// https://developer.apple.com/documentation/widgetkit/dynamicisland/widgeturl(_:)
    public func widgetURL(_ url: URL?) -> DynamicIsland { self }
}

/// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedregionposition
public struct DynamicIslandExpandedRegionPosition: Sendable {
    public static let leading = DynamicIslandExpandedRegionPosition()
    public static let trailing = DynamicIslandExpandedRegionPosition()
    public static let center = DynamicIslandExpandedRegionPosition()
    public static let bottom = DynamicIslandExpandedRegionPosition()
}

/// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedregion
public struct DynamicIslandExpandedRegion<Content: View> {
    /// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedregion/init(_:priority:content:)
    public init(
        _ position: DynamicIslandExpandedRegionPosition,
        priority: Double = 0,
        @ViewBuilder content: @escaping () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedcontent
public struct DynamicIslandExpandedContent<Content: View> {}

/// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedcontentbuilder
@resultBuilder public struct DynamicIslandExpandedContentBuilder {
    public static func buildPartialBlock<Content: View>(
        first: DynamicIslandExpandedRegion<Content>
    ) -> DynamicIslandExpandedContent<Content> { DynamicIslandExpandedContent() }
    public static func buildPartialBlock<First: View, Second: View>(
        accumulated: DynamicIslandExpandedContent<First>,
        next: DynamicIslandExpandedRegion<Second>
    ) -> DynamicIslandExpandedContent<First> { accumulated }
}

// MARK: Controls

/// https://developer.apple.com/documentation/widgetkit/controlvalueprovider
public protocol ControlValueProvider {
    associatedtype Value
    /// https://developer.apple.com/documentation/widgetkit/controlvalueprovider/previewvalue
    var previewValue: Self.Value { get }
    /// https://developer.apple.com/documentation/widgetkit/controlvalueprovider/currentvalue()
    func currentValue() async throws -> Self.Value
}

/// https://developer.apple.com/documentation/widgetkit/controlwidgettemplate
@MainActor @preconcurrency public protocol ControlWidgetTemplate {}

/// https://developer.apple.com/documentation/widgetkit/controlwidgettemplatebuilder
@resultBuilder public struct ControlWidgetTemplateBuilder {
    public static func buildBlock<Content: ControlWidgetTemplate>(_ content: Content) -> Content { content }
}

/// https://developer.apple.com/documentation/widgetkit/staticcontrolconfiguration
@MainActor @preconcurrency public struct StaticControlConfiguration<Content: ControlWidgetTemplate>:
    ControlWidgetConfiguration
{
    /// https://developer.apple.com/documentation/widgetkit/staticcontrolconfiguration/init(kind:provider:content:)
    public init<Provider: ControlValueProvider>(
        kind: String,
        provider: Provider,
        @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
    ) {}
}

/// https://developer.apple.com/documentation/widgetkit/controlwidgettoggledefaultlabel
@MainActor @preconcurrency public struct ControlWidgetToggleDefaultLabel: View {
    public var body: Never { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/widgetkit/controlwidgettoggle
@MainActor @preconcurrency public struct ControlWidgetToggle<Label: View, ValueLabel: View, Action>:
    ControlWidgetTemplate
{
    /// https://developer.apple.com/documentation/widgetkit/controlwidgettoggle/init(ison:action:label:)
    public init(isOn: Bool, action: Action, @ViewBuilder label: @escaping () -> Label)
    where ValueLabel == ControlWidgetToggleDefaultLabel, Action: SetValueIntent, Action.ValueType == Bool {}
}

/// https://developer.apple.com/documentation/widgetkit/controlcenter
public final class ControlCenter: Sendable {
    /// https://developer.apple.com/documentation/widgetkit/controlcenter/shared
    public static let shared = ControlCenter()
    /// https://developer.apple.com/documentation/widgetkit/controlcenter/reloadallcontrols()
    public func reloadAllControls() {}
    /// https://developer.apple.com/documentation/widgetkit/controlcenter/currentcontrols()
    public func currentControls() async throws -> [ControlInfo] { [] }
}
