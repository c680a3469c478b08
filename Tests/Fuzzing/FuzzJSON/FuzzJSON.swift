import FuzzDriver
import MartletCore

/// Looks for bytes that make the reader of JSON crash, hang, or take what it would not write.
@main
struct FuzzJSON: FuzzTarget {
    static func look(at bytes: [UInt8]) {
        let isObject = JSONReader.isObject(bytes)
        do throws(JSONError) {
            let value = try JSONReader.read(bytes)
            precondition(isObject == (value.members != nil), "the two readers do not agree on what this is")
            let encoded = value.encoded()
            let again = try? JSONReader.read(encoded)
            precondition(again == value, "what was read is not what is written")
            precondition(again?.encoded() == encoded, "what is written depends on how it was read")
        } catch {
            guard isObject else { return }
            switch error.problem {
            case .duplicateName: break
            case .unpairedSurrogate: checkReplacement(of: bytes)
            default: preconditionFailure("only one of the two readers takes this: \(error)")
            }
        }
    }

    /// Checks that the reader of payloads takes what has half a surrogate pair, or repeats a name.
    private static func checkReplacement(of bytes: [UInt8]) {
        do throws(JSONError) {
            let value = try JSONReader.readPayload(bytes)
            precondition(value.members != nil, "the two readers do not agree on what this is")
        } catch {
            guard case .duplicateName = error.problem else {
                preconditionFailure("the reader of payloads refuses this: \(error)")
            }
        }
    }
}
