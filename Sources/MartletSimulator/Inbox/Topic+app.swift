internal import MartletCore

extension Topic {
    /// The bundle identifier of the app: the topic without the suffix of a push type.
    var ofApp: Topic { Topic(bundleIdentifier) }
}
