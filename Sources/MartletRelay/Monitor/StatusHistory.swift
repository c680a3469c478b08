// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The history of the lanes in the last hour.
struct StatusHistory {
    /// The interval between samples, in seconds.
    static let interval: Int64 = 10
    /// The number of stored samples: those of one hour.
    private static let storedLimit = 360

    struct LaneSample: Hashable {
        /// The number of pushes that have not ended; nil when the outbox could not be read.
        var backlog: Int?
        /// The seconds since the push that has been due longest became due; nil when the outbox could not be read.
        var oldest: Int64?
        /// The number of attempts to send a push since the relay was started.
        var sent: Int
        /// The number of pushes that Apple accepted since the relay was started.
        var delivered = 0
        /// The number of attempts that Apple did not accept since the relay was started.
        var failed = 0
    }

    private struct Sample {
        var time: Int64
        var lanes: [Lane: LaneSample]
    }

    private var samples: [Sample] = []

    func wants(at now: Int64) -> Bool {
        samples.last.map { !(0..<StatusHistory.interval * 1_000).contains(now - $0.time) } ?? true
    }

    /// Adds a sample and removes the oldest one when there are too many.
    mutating func add(_ lanes: [Lane: LaneSample], at now: Int64) {
        samples.append(Sample(time: now, lanes: lanes))
        if samples.count > StatusHistory.storedLimit { samples.removeFirst() }
    }

    /// Returns the samples of some lanes, oldest first.
    func json(of lanes: [Lane]) -> JSONValue {
        var earlier: Sample?
        var list: [JSONValue] = []
        for sample in samples {
            let all = lanes.map { figures(of: $0, in: sample, after: earlier) }
            list.append(["time": .number(JSONNumber(sample.time)), "lanes": .array(all)])
            earlier = sample
        }
        let names = lanes.map { JSONValue.string("\($0.app) \($0.environment.rawValue)") }
        return ["lanes": .array(names), "samples": .array(list)]
    }

    private func figures(of lane: Lane, in sample: Sample, after earlier: Sample?) -> JSONValue {
        guard let figures = sample.lanes[lane] else { return [:] }
        let before = earlier?.lanes[lane] ?? figures
        let time = Double(max(1, sample.time - (earlier?.time ?? 0)))
        func rate(_ number: KeyPath<LaneSample, Int>) -> JSONValue? {
            // To a tenth. The sum over several relays may decrease, which counts as 0.
            let count = max(0, figures[keyPath: number] - before[keyPath: number])
            return JSONNumber((Double(count) * 10_000 / time).rounded() / 10).map { .number($0) }
        }
        return .members([
            "backlog": figures.backlog.map { .whole($0) }, "oldest-seconds": figures.oldest.map { .whole($0) },
            "sent-per-second": rate(\.sent), "delivered-per-second": rate(\.delivered),
            "failed-per-second": rate(\.failed),
        ])
    }
}
