// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet

let key = try SigningKey(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
let client = try PushClient(.development, authentication: .token(key))
let catalog = try Data(contentsOf: URL(filePath: "Localizable.xcstrings"))
let tracker = try OrderTracker(client: client, strings: SurfaceStrings(parsing: Array(catalog)))

// The tokens of your phone, which your server has stored.
let tokens = try CommandLine.arguments.dropFirst().map(DeviceToken.init(hex:))
guard tokens.count == 2 else { fatalError("usage: OrderTracker DEVICE-TOKEN PUSH-TO-START-TOKEN") }
let phone = Phone(device: tokens[0], activityStart: tokens[1])
try await tracker.start(Order(number: 17, revision: 1, changedAt: .now, stage: .accepted), on: phone)
await client.close()
