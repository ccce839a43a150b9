// Package source says how a place that packs come from is written, and what a pack at such a place is.
//
// A [Ref] is a place: a name in a registry, an OCI repository, an OCI layout, a git repository or a directory. A [Pack]
// is one version of a pack there. The packages below this one fetch; this one reads and writes text, and refuses what
// no place may look like, so that nothing hostile reaches a transport.
package pack
