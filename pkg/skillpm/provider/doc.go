// Package provider says which packs can be had, and brings them.
//
// A [Provider] answers the resolver's questions for one scope: from its lock, from the registries, and from the places
// that requirements name. [Provider.Lock] turns a manifest into a lock, and [Provider.Fetch] puts what a lock names
// into the store. The rules that the package keeps:
//
//   - What is locked is neither asked for nor looked up, until the lock does not fit any more.
//   - Names are looked up where the configuration and the machine's administrator say, and nowhere else.
//   - A published pack depends on names; only the root manifest reaches into this machine.
//   - What arrives is what the lock, or else the place, promised, or an error.
package provider
