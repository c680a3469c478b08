// SPDX-License-Identifier: Apache-2.0

/// The static and dynamic data of a Live Activity, as one Swift type.
///
/// Give the type the same name and properties as the app's `ActivityAttributes`:
///
/// ```swift
/// struct RideAttributes: LiveActivityAttributes {
///     struct ContentState: Encodable { var minutesLeft: Int }
///     var rideID: String
/// }
/// ```
public protocol LiveActivityAttributes: Encodable {
    /// The data that changes while the activity runs.
    associatedtype ContentState: Encodable

    /// The name of the app's type; the name of this type by default.
    static var attributesType: String { get }
}

extension LiveActivityAttributes {
    /// The name of this type, without the enclosing types and module.
    public static var attributesType: String { String(describing: Self.self) }
}
