// SPDX-License-Identifier: Apache-2.0

import FuzzDriver
import MartletCore

/// Fuzzes the JSON reader for crashes, hangs, and values that do not survive encoding.
@main
struct FuzzJSON: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        let isObject = JSONReader.isObject(bytes)
        do throws(JSONError) {
            let value = try JSONReader.read(bytes)
            precondition(isObject == (value.members != nil), "the readers disagree whether this is an object")
            let encoded = value.encoded()
            let again = try? JSONReader.read(encoded)
            precondition(again == value, "encoding changes the value")
            precondition(again?.encoded() == encoded, "encoding the value again changes the text")
        } catch {
            guard isObject else { return }
            switch error.problem {
            case .duplicateName: break
            case .unpairedSurrogate: checkReplacement(of: bytes)
            default: preconditionFailure("only one of the readers accepts this: \(error)")
            }
        }
    }

    /// Checks that the payload reader accepts unpaired surrogates and reports only duplicate names.
    private static func checkReplacement(of bytes: [UInt8]) {
        do throws(JSONError) {
            let value = try JSONReader.readPayload(bytes)
            precondition(value.members != nil, "the readers disagree whether this is an object")
        } catch {
            guard case .duplicateName = error.problem else {
                preconditionFailure("the payload reader rejects this: \(error)")
            }
        }
    }
}
