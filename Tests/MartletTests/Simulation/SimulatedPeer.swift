// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport

@testable import Martlet

/// The server's side of one connection: its open streams and its behavior.
struct SimulatedPeer {
    /// The last stream limit that was sent to the client; 1 before.
    var toldLimit = 1
    /// Whether an answer has been given, which ends the rule of one stream.
    var hasAnswered = false
    var isConnected = false
    /// Whether bytes are dropped in both directions without an error on either side.
    var isDead = false
    /// Whether its stream numbers are used up.
    var isExhausted = false
    /// Whether the client uses another connection, because it has another key.
    var isReplaced = false
    /// Whether the server has said that it takes no more.
    var hasGoneAway = false
    /// The open streams, in the order of opening.
    var streams: [PushKey] = []
    /// The pushes that were processed and are not answered.
    var actedOn: Set<PushKey> = []
}

/// The probabilities of failures in a simulated world, chosen once for each seed.
struct FailureRates {
    var connectFailure: Double
    var refusal: Double
    var reset: Double
    var silence: Double
    var goAway: Double
    var cut: Double
    var death: Double
    var cancellation: Double
    var tokenFailure: Double
    var keyReplacement: Double
    var latency: Duration
    var jump: Duration

    init(using random: inout SplitMix64) {
        func chance(_ most: Double) -> Double {
            Bool.random(using: &random) ? 0 : Double.random(in: 0..<most, using: &random)
        }
        connectFailure = chance(0.6)
        refusal = chance(0.5)
        reset = chance(0.4)
        silence = chance(0.1)
        goAway = chance(0.5)
        cut = chance(0.5)
        death = chance(0.2)
        cancellation = chance(0.3)
        tokenFailure = chance(0.4)
        keyReplacement = chance(0.1)
        latency = .microseconds(Int.random(in: 10...200_000, using: &random))
        jump = Int.random(in: 0..<8, using: &random) == 0 ? .seconds(Int.random(in: 1...120, using: &random)) : .zero
    }
}
