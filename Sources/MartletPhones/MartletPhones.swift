// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletTransport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The program with the phones of `Scripts/surfaces-demo` and `Scripts/surfaces-crashes`.
///
/// It prints the port of a simulator in place of Apple. Then it reads a command in JSON from each line of its input,
/// and answers each in a line. It exits at the end of the input, or with status 1 after a wrong command.
@main
struct MartletPhones {
    // The main thread may wait for input, because nothing else runs on it.
    @MainActor
    static func main() async {
        do {
            // Each phone has its own connections to the relays.
            DescriptorLimit.raise()
            let phones = try await Phones()
            let port = await phones.start()
            write(["port": .integer(port)])
            while let line = readLine() {
                write(try await phones.perform(JSONReader.read(Array(line.utf8))))
            }
        } catch {
            Terminal.errors.write("MartletPhones: \(error)\n")
            exit(1)
        }
    }

    private static func write(_ answer: JSONValue) {
        Terminal.output.write(String(decoding: answer.encoded(), as: UTF8.self) + "\n")
    }
}
