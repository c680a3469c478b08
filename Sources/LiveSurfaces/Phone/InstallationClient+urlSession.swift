// SPDX-License-Identifier: Apache-2.0

// A server needs no URLSession, which is a module of its own on Linux.
#if canImport(Security)
    #if canImport(FoundationEssentials)
        internal import Foundation
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    extension InstallationClient {
        /// Creates a client of an app, which sends its requests with `URLSession`.
        ///
        /// - Parameters:
        ///   - relay: The address at which phones reach the relay, such as `https://push.example.com`.
        ///   - environment: The environment of the build.
        ///   - storage: The storage of the state.
        ///   - ticket: Asks the app's back end for a ticket for the user that is signed in.
        public init(
            relay: URL,
            environment: Environment,
            storage: any InstallationStorage = KeychainStorage(),
            ticket: @escaping @Sendable (_ user: String) async throws -> String
        ) {
            self.init(
                environment: environment,
                bundleID: Bundle.main.bundleIdentifier,
                storage: storage,
                ticket: ticket,
                send: Self.urlSession(to: relay)
            )
        }

        /// Returns a function that sends requests with `URLSession`, and stores neither answers nor cookies.
        ///
        /// - Parameter relay: The address at which phones reach the relay.
        /// - Returns: The function.
        public static func urlSession(to relay: URL) -> Send {
            let session = URLSession(configuration: .ephemeral)
            let url = relay.appendingPathComponent("v1/installation")
            return { request in
                var message = URLRequest(url: url)
                message.httpMethod = request.method
                message.setValue(request.authorization, forHTTPHeaderField: "authorization")
                if !request.body.isEmpty { message.httpBody = Data(request.body) }
                let (data, response) = try await session.data(for: message)
                guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
                return InstallationAnswer(
                    status: response.statusCode,
                    retryAfter: response.value(forHTTPHeaderField: "retry-after"),
                    body: Array(data)
                )
            }
        }
    }
#endif
