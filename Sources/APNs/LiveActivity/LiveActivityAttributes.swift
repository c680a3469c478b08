/// The fixed and the changing part of a Live Activity, as one Swift type names them.
///
/// Give the type the same name and fields as the app's `ActivityAttributes`:
///
/// ```swift
/// struct RideAttributes: LiveActivityAttributes {
///     struct ContentState: Encodable { var minutesLeft: Int }
///     var rideID: String
/// }
/// ```
public protocol LiveActivityAttributes: Encodable {
    /// What changes while the activity runs.
    associatedtype ContentState: Encodable

    /// The name of the app's type; by default this type's own.
    static var attributesType: String { get }
}

extension LiveActivityAttributes {
    /// This type's name, without those of the types and modules around it.
    public static var attributesType: String { String(describing: Self.self) }
}
