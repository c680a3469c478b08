// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Jobs that send to many phones while relays and their database are killed.
@Suite(.timeLimit(.minutes(10))) struct JobCrashTests {
    #if os(Linux)
        @Test(arguments: [[], ["--sqlite"]] as [[String]])
        func `each phone of a job has one outcome after crashes`(options: [String]) async throws {
            let requested = ProcessInfo.processInfo.environment["MARTLET_SEED"].flatMap { UInt32($0) }
            let seed = requested ?? .random(in: .min ... .max)
            let run = try await ProgramRun(
                "Scripts/people-crashes",
                [MartletProcess.program, "\(seed)"] + options
            )
            #expect(run.status == 0, "seed \(seed): \(run.text)\(run.errorOutput)")
        }
    #endif
}
