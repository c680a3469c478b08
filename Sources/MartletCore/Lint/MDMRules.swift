// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let mdmPayloadWrong = PushLint.Rule("mdm-payload-wrong", .error, .mdm)
        .when("the payload of a push of type mdm is not an object with a string at mdm and nothing else")
}

/// The rules about pushes to managed devices ("Sending MDM commands to a device").
enum MDMRules {
    static let all: [PushLint.Rule] = [.mdmPayloadWrong]

    static func check(_ payload: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.type == .mdm else {
            guard push.isForMDM, let type = push.type, type.isKnown else { return [] }
            let text =
                "the topic is that of an MDM push certificate: the push type must be mdm (found"
                + " \(ShownValue.quoted(type.rawValue))), and APNs may refuse or drop the push"
            return [PushLint.Finding(.pushTypeMismatch, .header("apns-push-type"), text)]
        }
        let magic = payload["mdm"]?.stringValue ?? ""
        var findings: [PushLint.Finding] = []
        if magic.isEmpty {
            let text = "mdm must be a string, the push magic of the device's enrollment: the device ignores the push"
            findings.append(PushLint.Finding(.mdmPayloadWrong, .payload("/mdm"), text))
        }
        if let other = payload.members?.map(\.name).first(where: { $0 != "mdm" }) {
            let text =
                "\(ShownValue(other)) is not allowed: the payload of a push of type mdm has the key mdm and no other"
            findings.append(PushLint.Finding(.mdmPayloadWrong, .payload(JSONPointer.shownPath([other])), text))
        }
        return findings
    }
}
