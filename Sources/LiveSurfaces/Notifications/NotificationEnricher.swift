// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The part of a service extension that needs no framework: it fetches and checks attachments, personalises texts, and
/// falls back to the notification as it was sent.
///
/// The system gives a service extension about 30 seconds. The enricher returns after its ``budget``, or when its task
/// is cancelled, with what it has: every part that is missing is in ``NotificationEnrichment/problems``.
///
/// Source: "Modifying content in newly delivered notifications".
public struct NotificationEnricher: Sendable {
    /// A file that was fetched for an attachment.
    public struct File: Sendable, Hashable {
        /// The path of the file.
        public let path: String
        /// The size in bytes.
        public let byteCount: Int
        /// The first 12 bytes, or all bytes of a smaller file.
        public let start: [UInt8]

        /// Creates a description of a file.
        public init(path: String, byteCount: Int, start: [UInt8]) {
            self.path = path
            self.byteCount = byteCount
            self.start = start
        }
    }

    /// The time after which the enricher returns without the attachments that are still missing.
    public let budget: Duration
    /// The values for the placeholders of personalized texts, by name.
    public let values: [String: String]

    /// Creates an enricher.
    ///
    /// - Parameters:
    ///   - budget: The time for all attachments; 25 seconds by default, which leaves the system's limit some room.
    ///   - values: The values for the placeholders of personalized texts, by name.
    public init(budget: Duration = .seconds(25), values: [String: String] = [:]) {
        self.budget = budget
        self.values = values
    }

    /// Enriches a notification.
    ///
    /// - Parameters:
    ///   - texts: The texts of the notification as the system would show them.
    ///   - sidecar: The sidecar of the push.
    ///   - fetch: Fetches the file of an attachment; it is called for all attachments at the same time, and its task is
    ///     cancelled when the budget is spent.
    /// - Returns: The texts and attachments to show, with the reason for each part that is left out.
    public func enrich(
        _ texts: NotificationTexts,
        with sidecar: SurfaceSidecar,
        fetch: @escaping @Sendable (SurfaceAttachment) async throws -> File
    ) async -> NotificationEnrichment {
        var problems: [NotificationEnrichment.Problem] = []
        let texts = personalize(texts, sidecar.personalized, &problems)
        var attached: [NotificationEnrichment.Attachment] = []
        let attachments = sidecar.attachments ?? []
        let results = await files(for: attachments, fetch)
        for (attachment, result) in zip(attachments, results) {
            switch result {
            case .success(let file): attached.append(.init(attachment: attachment, path: file.path))
            case .failure(let problem): problems.append(.init(part: attachment.id, reason: problem.reason))
            }
        }
        return NotificationEnrichment(of: sidecar, texts: texts, attachments: attached, problems: problems)
    }

    // MARK: Texts

    private func personalize(
        _ texts: NotificationTexts,
        _ personalized: PersonalizedText?,
        _ problems: inout [NotificationEnrichment.Problem]
    ) -> NotificationTexts {
        func filled(_ general: String, _ template: String?, _ part: String) -> String {
            guard let template else { return general }
            switch PersonalizedText.fill(template, with: values) {
            case .text(let text): return text
            case .missing(let name):
                problems.append(.init(part: part, reason: "the phone has no value for \(name)"))
                return general
            }
        }
        return NotificationTexts(
            title: filled(texts.title, personalized?.title, "title"),
            subtitle: filled(texts.subtitle, personalized?.subtitle, "subtitle"),
            body: filled(texts.body, personalized?.body, "body")
        )
    }

    // MARK: Attachments

    /// The reason for which an attachment is left out.
    private struct Unusable: Error {
        let reason: String
    }

    private enum Event: Sendable {
        case fetched(Int, Result<File, Unusable>)
        case timeout
    }

    /// Fetches the files of attachments, and returns the result of each in the same order.
    private func files(
        for attachments: [SurfaceAttachment],
        _ fetch: @escaping @Sendable (SurfaceAttachment) async throws -> File
    ) async -> [Result<File, Unusable>] {
        var results: [Int: Result<File, Unusable>] = [:]
        // The tasks are not structured: one that ignores its cancellation must not delay the notification.
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        var tasks: [Task<Void, Never>] = []
        for (index, attachment) in attachments.enumerated() {
            if let reason = NotificationEnricher.flaw(of: attachment) {
                results[index] = .failure(Unusable(reason: reason))
                continue
            }
            let task = Task {
                let result = await NotificationEnricher.file(for: attachment, fetch)
                continuation.yield(.fetched(index, result))
            }
            tasks.append(task)
        }
        let budget = budget
        tasks.append(
            Task {
                try? await Task.sleep(for: budget)
                continuation.yield(.timeout)
            }
        )
        defer { for task in tasks { task.cancel() } }
        var reason = "was not fetched before the system ended the extension"
        var iterator = events.makeAsyncIterator()
        // When this task is cancelled, the sequence ends.
        while results.count < attachments.count, let event = await iterator.next() {
            guard case .fetched(let index, let result) = event else {
                reason = "was not fetched within \(budget)"
                break
            }
            results[index] = result
        }
        return attachments.indices.map { results[$0] ?? .failure(Unusable(reason: reason)) }
    }

    /// Fetches and checks a file.
    private static func file(
        for attachment: SurfaceAttachment,
        _ fetch: @Sendable (SurfaceAttachment) async throws -> File
    ) async -> Result<File, Unusable> {
        do {
            let file = try await fetch(attachment)
            return flaw(of: file, as: attachment.type).map { .failure(Unusable(reason: $0)) } ?? .success(file)
        } catch {
            return .failure(Unusable(reason: "cannot be fetched: \(error)"))
        }
    }

    /// Returns the reason for which an attachment is not even fetched; nil if there is none.
    private static func flaw(of attachment: SurfaceAttachment) -> String? {
        guard let kind = attachment.type.kind else { return "the type \(attachment.type.rawValue) is not supported" }
        return attachment.byteCount.flatMap { tooLarge($0, kind) }
    }

    /// Returns the reason for which a file cannot be attached; nil if there is none.
    static func flaw(of file: File, as type: NotificationAttachmentType) -> String? {
        guard let kind = type.kind else { return "the type \(type.rawValue) is not supported" }
        if let reason = tooLarge(file.byteCount, kind) { return reason }
        return type.matches(file.start) ? nil : "the file is not of the type \(type.rawValue)"
    }

    private static func tooLarge(_ count: Int, _ kind: NotificationAttachmentType.Kind) -> String? {
        guard count > kind.maximumByteCount else { return nil }
        return "has \(count) bytes; the maximum for the kind \(kind.rawValue) is \(kind.maximumByteCount)"
    }
}
