// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of SwiftUI that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation
public import UIKit

// MARK: Views

/// https://developer.apple.com/documentation/swiftui/view
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    /// https://developer.apple.com/documentation/swiftui/view/body-swift.property
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
    public var body: Never { fatalError("a stand-in") }
}

/// The body of a view that the system draws.
public protocol DrawnView: View where Body == Never {}

extension DrawnView {
    public var body: Never { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/swiftui/viewbuilder
@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
    {
        fatalError("a stand-in")
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
        fatalError("a stand-in")
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
        fatalError("a stand-in")
    }
}

/// https://developer.apple.com/documentation/swiftui/emptyview
public struct EmptyView: DrawnView {
    nonisolated public init() {}
}

/// https://developer.apple.com/documentation/swiftui/tupleview
public struct TupleView<Content>: DrawnView {}

/// The type that `ViewBuilder` makes of `if` and `switch`.
public struct _ConditionalContent<First: View, Second: View>: DrawnView {}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/swiftui/text
public struct Text: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/text/init(_:)-9d1g4
    nonisolated public init<Content: StringProtocol>(_ content: Content) {}
}

/// https://developer.apple.com/documentation/swiftui/image
public struct Image: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/image/init(systemname:)
    nonisolated public init(systemName: String) {}
    /// https://developer.apple.com/documentation/swiftui/image/init(uiimage:)
    nonisolated public init(uiImage: UIImage) {}
    /// https://developer.apple.com/documentation/swiftui/image/resizable(capinsets:resizingmode:)
    nonisolated public func resizable() -> Image { self }
}

/// https://developer.apple.com/documentation/swiftui/label
public struct Label<Title: View, Icon: View>: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/label/init(_:systemimage:)
    nonisolated public init<Content: StringProtocol>(_ title: Content, systemImage name: String)
    where Title == Text, Icon == Image {}
}

/// https://developer.apple.com/documentation/swiftui/progressview
public struct ProgressView<Label: View, CurrentValueLabel: View>: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/progressview/init(value:total:)
    nonisolated public init<Value: BinaryFloatingPoint>(value: Value?, total: Value = 1.0)
    where Label == EmptyView, CurrentValueLabel == EmptyView {}
}

/// https://developer.apple.com/documentation/swiftui/gauge
public struct Gauge<Label: View, CurrentValueLabel: View, BoundsLabel: View, MarkedValueLabels: View>: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/gauge/init(value:in:label:currentvaluelabel:)
    nonisolated public init<Value: BinaryFloatingPoint>(
        value: Value,
        in bounds: ClosedRange<Value> = 0...1,
        @ViewBuilder label: () -> Label,
        @ViewBuilder currentValueLabel: () -> CurrentValueLabel
    ) where BoundsLabel == EmptyView, MarkedValueLabels == EmptyView {}
}

/// https://developer.apple.com/documentation/swiftui/horizontalalignment
public struct HorizontalAlignment: Sendable {
    public static let leading = HorizontalAlignment()
    public static let center = HorizontalAlignment()
}

/// https://developer.apple.com/documentation/swiftui/verticalalignment
public struct VerticalAlignment: Sendable {
    public static let center = VerticalAlignment()
}

/// https://developer.apple.com/documentation/swiftui/vstack
public struct VStack<Content: View>: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/vstack/init(alignment:spacing:content:)
    nonisolated public init(
        alignment: HorizontalAlignment = .center,
        spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/hstack
public struct HStack<Content: View>: DrawnView {
    /// https://developer.apple.com/documentation/swiftui/hstack/init(alignment:spacing:content:)
    nonisolated public init(
        alignment: VerticalAlignment = .center,
        spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/font
public struct Font: Sendable {
    public static let headline = Font()
    public static let caption = Font()
}

/// https://developer.apple.com/documentation/swiftui/shapestyle
public protocol ShapeStyle: Sendable {}

/// https://developer.apple.com/documentation/swiftui/color
public struct Color: ShapeStyle, DrawnView {
    public static let clear = Color()
}

/// https://developer.apple.com/documentation/swiftui/containerbackgroundplacement
public struct ContainerBackgroundPlacement: Sendable {
    public static let widget = ContainerBackgroundPlacement()
}

extension View {
    /// https://developer.apple.com/documentation/swiftui/view/font(_:)
    nonisolated public func font(_ font: Font?) -> some View { self }
    /// https://developer.apple.com/documentation/swiftui/view/scaledtofit()
    nonisolated public func scaledToFit() -> some View { self }
    /// https://developer.apple.com/documentation/swiftui/view/widgeturl(_:)
    nonisolated public func widgetURL(_ url: URL?) -> some View { self }
    /// https://developer.apple.com/documentation/swiftui/view/containerbackground(_:for:)
    nonisolated public func containerBackground<Style: ShapeStyle>(
        _ style: Style,
        for container: ContainerBackgroundPlacement
    ) -> some View { self }
}

/// https://developer.apple.com/documentation/swiftui/uihostingcontroller
@MainActor open class UIHostingController<Content: View>: UIViewController {
    /// https://developer.apple.com/documentation/swiftui/uihostingcontroller/init(rootview:)
    public init(rootView: Content) { fatalError("a stand-in") }
}

// MARK: Widgets

/// https://developer.apple.com/documentation/swiftui/widget
@MainActor @preconcurrency public protocol Widget {
    associatedtype Body: WidgetConfiguration
    /// https://developer.apple.com/documentation/swiftui/widget/init()
    @MainActor @preconcurrency init()
    /// https://developer.apple.com/documentation/swiftui/widget/body-swift.property
    @MainActor @preconcurrency var body: Self.Body { get }
}

/// https://developer.apple.com/documentation/swiftui/widgetconfiguration
@MainActor @preconcurrency public protocol WidgetConfiguration {}

/// https://developer.apple.com/documentation/swiftui/controlwidget
@MainActor @preconcurrency public protocol ControlWidget {
    associatedtype Body: ControlWidgetConfiguration
    /// https://developer.apple.com/documentation/swiftui/controlwidget/init()
    @MainActor @preconcurrency init()
    /// https://developer.apple.com/documentation/swiftui/controlwidget/body-swift.property
    @MainActor @preconcurrency var body: Self.Body { get }
}

/// https://developer.apple.com/documentation/swiftui/controlwidgetconfiguration
@MainActor @preconcurrency public protocol ControlWidgetConfiguration {}

/// https://developer.apple.com/documentation/swiftui/widgetbundle
@MainActor @preconcurrency public protocol WidgetBundle {
    associatedtype Body: Widget
    /// https://developer.apple.com/documentation/swiftui/widgetbundle/init()
    @MainActor @preconcurrency init()
    /// https://developer.apple.com/documentation/swiftui/widgetbundle/body-swift.property
    @WidgetBundleBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

/// https://developer.apple.com/documentation/swiftui/widgetbundlebuilder
@resultBuilder public struct WidgetBundleBuilder {
    public static func buildExpression<Content: Widget>(_ content: Content) -> Content { content }
    public static func buildExpression<Content: ControlWidget>(_ content: Content) -> some Widget { BundledWidgets() }
    @MainActor public static func buildBlock<each Content: Widget>(_ content: repeat each Content) -> some Widget {
        BundledWidgets()
    }
}

/// The widgets of a bundle.
struct BundledWidgets: Widget {
    nonisolated init() {}
    var body: some WidgetConfiguration { BundledConfiguration() }
}

struct BundledConfiguration: WidgetConfiguration {}
