// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct ChannelSubscriptionsTests {
    private let channel = ChannelID("YQ==")
    private let push = DeliveredPush(.sample())

    @Test func `a subscriber gets the stored broadcast of its channel only`() {
        var subscriptions = ChannelSubscriptions()
        #expect(subscriptions.add("a", to: channel) == nil)
        subscriptions.store(push, on: channel)
        #expect(subscriptions.add("b", to: channel) == push)
        #expect(subscriptions.add("b", to: ChannelID("Yg==")) == nil)
        #expect(subscriptions.tokens(of: channel) == ["a", "b"])
    }

    @Test func `a removed subscriber leaves the others`() {
        var subscriptions = ChannelSubscriptions()
        for token in ["a", "b"] { _ = subscriptions.add(token, to: channel) }
        subscriptions.remove("a", from: channel)
        #expect(subscriptions.tokens(of: channel) == ["b"])
        subscriptions.remove("b", from: channel)
        #expect(subscriptions.tokens(of: channel).isEmpty)
    }

    @Test func `a deleted channel has no subscribers and no broadcast`() {
        var subscriptions = ChannelSubscriptions()
        _ = subscriptions.add("a", to: channel)
        subscriptions.store(push, on: channel)
        #expect(subscriptions.remove(channel) == ["a"])
        #expect(subscriptions.remove(channel).isEmpty)
        #expect(subscriptions.add("a", to: channel) == nil)
    }
}
