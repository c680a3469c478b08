// SPDX-License-Identifier: Apache-2.0

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

/// The resource usage of this process.
struct ProcessFacts {
    /// The CPU time in seconds.
    let processorSeconds: Double
    /// The resident memory in bytes.
    let residentBytes: Int
    /// The mapped memory in bytes.
    let virtualBytes: Int
    let openDescriptors: Int
    let threads: Int

    #if canImport(Darwin)
        /// Reads the current values; nil if the system does not report them.
        init?() {
            var usage = rusage()
            var task = proc_taskinfo()
            let size = CInt(MemoryLayout<proc_taskinfo>.size)
            guard unsafe getrusage(RUSAGE_SELF, &usage) == 0,
                unsafe proc_pidinfo(getpid(), PROC_PIDTASKINFO, 0, &task, size) == size
            else { return nil }
            let times = [usage.ru_utime, usage.ru_stime]
            processorSeconds = times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000 }
            residentBytes = Int(clamping: task.pti_resident_size)
            virtualBytes = Int(clamping: task.pti_virtual_size)
            threads = Int(task.pti_threadnum)
            let bytes = unsafe proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, nil, 0)
            openDescriptors = Int(bytes) / MemoryLayout<proc_fdinfo>.stride
        }
    #else
        /// Reads the current values from `/proc`; nil on systems without it.
        init?() {
            let stat = FileManager.default.contents(atPath: "/proc/self/stat")
            let text = stat.map { String(decoding: $0, as: UTF8.self) }
            guard let text, let end = text.lastIndex(of: ")"),
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
    #endif
}

/// Metrics of the process.
extension MetricSheet {
    /// Adds the version, the start and the resource usage of the process.
    mutating func addProcess(startedAt: Int64) {
        gauge("build_info", "Versions of Martlet and its libraries.")
        let libraries = LibraryVersions()
        add(
            [
                "version": MartletVersion.current, "libuv": libraries.libuv, "nghttp2": libraries.nghttp2,
                "openssl": libraries.openssl,
            ],
            1
        )
        family("process_start_time_seconds", .gauge, "Time of the start, in seconds since 1970.")
        add([:], Double(startedAt) / 1_000)
        guard let facts = ProcessFacts() else { return }
        family("process_cpu_seconds_total", .counter, "CPU time.")
        add([:], facts.processorSeconds)
        for (name, help, value) in [
            ("resident_memory_bytes", "Resident memory.", facts.residentBytes),
            ("virtual_memory_bytes", "Mapped memory.", facts.virtualBytes),
            ("open_fds", "Open file descriptors.", facts.openDescriptors),
            ("threads", "Threads.", facts.threads),
        ] {
            single("process_" + name, .gauge, help, value)
        }
    }
}
