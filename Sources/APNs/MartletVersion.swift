/// Which Martlet this is.
package enum MartletVersion {
    /// Its version by the rules of Semantic Versioning.
    package static let current = "0.1.0"
}
