// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Surfaces on simulated phones that change while relays and their database are killed.
@Suite(.timeLimit(.minutes(20))) struct SurfaceCrashTests {
    #if os(Linux)
        @Test(arguments: [[], ["--sqlite"]] as [[String]])
        func `each reachable phone shows the last states after crashes`(options: [String]) async throws {
            let environment = ProcessInfo.processInfo.environment
            let seed = environment["MARTLET_SEED"].flatMap { UInt32($0) } ?? .random(in: .min ... .max)
            let phones = environment["MARTLET_PHONES"].flatMap { UInt32($0) } ?? 100
            let run = try await ProgramRun(
                "Scripts/surfaces-crashes",
                [MartletProcess.program, "\(seed)", "--phones", "\(phones)"] + options
            )
            #expect(run.status == 0, "seed \(seed): \(run.text)\(run.errorOutput)")
        }
    #endif
}
