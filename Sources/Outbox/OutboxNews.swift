/// What comes about in an outbox that others share, without this process's doing.
package enum OutboxNews: Sendable, Hashable {
    /// Something is due in a lane.
    case arrived(Lane, Urgency)
    /// What this process has claimed and not settled is others' now.
    case claimsLost
    /// Who is there: so many processes, and whether this one does what only one may do.
    case fleet(nodes: Int, leads: Bool)
    /// Somebody asks this process to come to its end.
    case drainAsked
}
