internal import MartletCore

extension Topic {
    /// The bundle identifier of the app: the topic without the suffix of a push type.
    var ofApp: Topic {
        let suffix = PushType.all.map(\.topicSuffix).first { !$0.isEmpty && rawValue.hasSuffix($0) } ?? ""
        return Topic(String(rawValue.dropLast(suffix.count)))
    }
}
