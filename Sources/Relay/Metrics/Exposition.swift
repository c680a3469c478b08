internal import Outbox

/// Numbers in the text format 0.0.4 of Prometheus.
struct Exposition {
    /// The names of labels with their values, in their order.
    typealias Labels = KeyValuePairs<String, String>

    /// What kind of number something is.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    private let prefix: String
    private(set) var text = ""

    /// An exposition of nothing yet, whose names begin with `prefix`.
    init(prefix: String) {
        self.prefix = prefix
    }

    /// Begins the numbers of a name.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(prefix)\(name) \(help)\n# TYPE \(prefix)\(name) \(kind.rawValue)\n"
    }

    /// A number without a fraction.
    mutating func add(_ name: String, _ labels: Labels, _ value: some BinaryInteger) {
        text += "\(prefix)\(name)\(Exposition.braces(labels)) \(value)\n"
    }

    /// A number.
    mutating func add(_ name: String, _ labels: Labels, _ value: Double) {
        text += "\(prefix)\(name)\(Exposition.braces(labels)) \(value)\n"
    }

    /// A family of one number.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        family(name, kind, help)
        add(name, [:], value)
    }

    /// A histogram.
    mutating func add(_ name: String, _ labels: Labels, _ histogram: Histogram) {
        var total = 0
        let pairs = Exposition.pairs(labels)
        for (index, count) in histogram.counts.enumerated() {
            total += count
            let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
            let all = (pairs + ["le=\"\(bound)\""]).joined(separator: ",")
            text += "\(prefix)\(name)_bucket{\(all)} \(total)\n"
        }
        add(name + "_sum", labels, histogram.sum)
        add(name + "_count", labels, total)
    }

    private static func braces(_ labels: Labels) -> String {
        labels.isEmpty ? "" : "{\(pairs(labels).joined(separator: ","))}"
    }

    private static func pairs(_ labels: Labels) -> [String] {
        labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
    }
}
