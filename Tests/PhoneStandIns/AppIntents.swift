// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of App Intents that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation

/// https://developer.apple.com/documentation/foundation/localizedstringresource
///
/// Apple's Foundation declares it; the Foundation of Linux does not.
public struct LocalizedStringResource: Sendable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {}
}

/// https://developer.apple.com/documentation/appintents/appintent
public protocol AppIntent: Sendable {
    associatedtype PerformResult: IntentResult
    /// https://developer.apple.com/documentation/appintents/appintent/title
    static var title: LocalizedStringResource { get }
    /// https://developer.apple.com/documentation/appintents/appintent/init()
    init()
    /// https://developer.apple.com/documentation/appintents/appintent/perform()
    func perform() async throws -> Self.PerformResult
}

/// https://developer.apple.com/documentation/appintents/setvalueintent
public protocol SetValueIntent<ValueType>: AppIntent {
    associatedtype ValueType: _IntentValue
    /// https://developer.apple.com/documentation/appintents/setvalueintent/value
    var value: Self.ValueType { get set }
}

/// The values that a parameter may have, of which the phone's code uses two.
public protocol _IntentValue: Sendable {}
extension Bool: _IntentValue {}
extension String: _IntentValue {}

/// https://developer.apple.com/documentation/appintents/intentresult
public protocol IntentResult: Sendable {}

/// https://developer.apple.com/documentation/appintents/intentresultcontainer
public struct IntentResultContainer<Value, OpensIntent, SnippetView, Dialog>: IntentResult {}

extension IntentResult {
    /// https://developer.apple.com/documentation/appintents/intentresult/result()
    public static func result() -> Self where Self == IntentResultContainer<Never, Never, Never, Never> {
        IntentResultContainer()
    }
}

/// https://developer.apple.com/documentation/appintents/intentparameter
@propertyWrapper public final class IntentParameter<Value: _IntentValue>: @unchecked Sendable {
    /// https://developer.apple.com/documentation/appintents/intentparameter/wrappedvalue
    public var wrappedValue: Value {
        get { fatalError("a stand-in") }
        set { fatalError("a stand-in") }
    }
    /// https://developer.apple.com/documentation/appintents/intentparameter/init(title:description:)
    public init(title: LocalizedStringResource) {}
}

extension AppIntent {
    /// https://developer.apple.com/documentation/appintents/appintent/parameter
    public typealias Parameter = IntentParameter
}
