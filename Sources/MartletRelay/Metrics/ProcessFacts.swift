internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The resource usage of this process, on systems with `/proc`.
struct ProcessFacts {
    /// The CPU time in seconds.
    let processorSeconds: Double
    /// The resident memory in bytes.
    let residentBytes: Int
    /// The mapped memory in bytes.
    let virtualBytes: Int
    let openDescriptors: Int
    let threads: Int

    /// Reads the current values; nil on systems without `/proc`.
    init?() {
        guard let text = ProcessFacts.read("/proc/self/stat"), let end = text.lastIndex(of: ")"),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // After the name in parentheses, the fields are counted from 3 (proc(5)).
        let fields = text[text.index(after: end)...].split(separator: " ").map { Int($0) ?? 0 }
        guard fields.count > 21 else { return nil }
        processorSeconds = Double(fields[11] + fields[12]) / Double(sysconf(CInt(_SC_CLK_TCK)))
        threads = fields[17]
        virtualBytes = fields[20]
        residentBytes = fields[21] * Int(sysconf(CInt(_SC_PAGESIZE)))
        openDescriptors = descriptors.count
    }

    private static func read(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Metrics of the process.
extension PushRelay {
    func addProcess(to sheet: inout MetricSheet) {
        sheet.family("martlet_relay_build_info", .gauge, "Which Martlet this is, and what it runs with.")
        let libraries = LibraryVersions()
        sheet.add(
            [
                "version": MartletVersion.current, "libuv": libraries.libuv, "nghttp2": libraries.nghttp2,
                "openssl": libraries.openssl,
            ],
            1
        )
        sheet.family(
            "process_start_time_seconds",
            .gauge,
            "When the relay was started, in seconds since 1970."
        )
        sheet.add([:], Double(startedAt) / 1_000)
        guard let facts = ProcessFacts() else { return }
        sheet.family(
            "process_cpu_seconds_total",
            .counter,
            "Time of processors that was used.",
            openTelemetry: "process.cpu.time"
        )
        sheet.add([:], facts.processorSeconds)
        for (name, help, other, value) in [
            ("resident_memory_bytes", "Memory in use.", "memory.usage", facts.residentBytes),
            ("virtual_memory_bytes", "Memory that is mapped.", "memory.virtual", facts.virtualBytes),
            ("open_fds", "Open descriptors.", "unix.file_descriptor.count", facts.openDescriptors),
            ("threads", "Threads.", "thread.count", facts.threads),
        ] {
            sheet.single("process_" + name, .gauge, help, openTelemetry: "process." + other, value)
        }
    }
}
