// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of UIKit that the phone's code uses, for Scripts/check-phone.

@_exported public import Foundation

/// https://developer.apple.com/documentation/uikit/uiview
@MainActor open class UIView {
    /// https://developer.apple.com/documentation/uikit/uiview/init(frame:)
    public init(frame: CGRect) { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/uikit/uiview/bounds
    open var bounds: CGRect = .zero
    /// https://developer.apple.com/documentation/uikit/uiview/frame
    open var frame: CGRect = .zero
    /// https://developer.apple.com/documentation/uikit/uiview/autoresizingmask-swift.property
    open var autoresizingMask: AutoresizingMask = []
    /// https://developer.apple.com/documentation/uikit/uiview/addsubview(_:)
    open func addSubview(_ view: UIView) { fatalError("a stand-in") }

    /// https://developer.apple.com/documentation/uikit/uiview/autoresizingmask-swift.struct
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let flexibleWidth = AutoresizingMask(rawValue: 1 << 1)
        public static let flexibleHeight = AutoresizingMask(rawValue: 1 << 4)
    }
}

/// https://developer.apple.com/documentation/uikit/uiviewcontroller
@MainActor open class UIViewController: NSObject {
    /// https://developer.apple.com/documentation/uikit/uiviewcontroller/view
    open var view: UIView! = nil
    /// https://developer.apple.com/documentation/uikit/uiviewcontroller/children
    open var children: [UIViewController] { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/uikit/uiviewcontroller/addchild(_:)
    open func addChild(_ childController: UIViewController) { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/uikit/uiviewcontroller/didmove(toparent:)
    open func didMove(toParent parent: UIViewController?) { fatalError("a stand-in") }
}

/// https://developer.apple.com/documentation/uikit/uiimage
public final class UIImage: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/uikit/uiimage/init(contentsoffile:)
    public init?(contentsOfFile path: String) { nil }
}
