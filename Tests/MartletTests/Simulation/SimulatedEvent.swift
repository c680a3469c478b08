// SPDX-License-Identifier: Apache-2.0

@testable import Martlet

/// An event of a simulated world.
enum SimulatedEvent {
    case submit(Int)
    case cancel(Int)
    case wake
    case connect(PoolMachine.ConnectionID)
    case limit(PoolMachine.ConnectionID, Int)
    case stream(Int, PoolMachine.ConnectionID, attempt: Int)
    case taken(Int, PoolMachine.ConnectionID, attempt: Int)
    case pong(PoolMachine.ConnectionID)
    case goAway(PoolMachine.ConnectionID)
    case cut(PoolMachine.ConnectionID)
    case die(PoolMachine.ConnectionID)
    case jump
    case cancelUnsent
    case token
    case replaceKey
    case close
    case giveUp
}

extension PoolMachine.Action {
    /// Returns a description of the event for the output of a world.
    func text(_ name: (PushKey) -> String) -> String {
        switch self {
        case .connect(let id): "open connection \(id)"
        case .open(let push, let id): "send push \(name(push)) on connection \(id)"
        case .reset(let push, let id): "reset push \(name(push)) on connection \(id)"
        case .ping(let id): "ping connection \(id)"
        case .close(let id, let error): "close connection \(id): \(error)"
        case .requestToken: "request a token"
        case .settle(let push): "settle push \(name(push))"
        case .report(let event): "report \(event)"
        }
    }
}
