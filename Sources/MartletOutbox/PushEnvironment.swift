/// One of Apple's two environments.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case development
}
