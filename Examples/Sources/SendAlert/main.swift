// SPDX-License-Identifier: Apache-2.0

import Martlet

let key = try SigningKey(file: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
let client = try PushClient(.production, authentication: .token(key))
let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
let alert = PushNotification.Alert(title: "Order ready", body: "Tap to open the order.")
let receipt = try await client.send(.alert(alert, sound: .default, badge: 3), to: phone, topic: "com.example.app")
print("accepted as \(receipt.id)")
