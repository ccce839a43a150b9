// Package fetch reaches sources and registries, and brings the content of packs into the store.
//
// [Gate] asks the policies which sources may be contacted, [Registries] finds packs by name, and [Fetcher] opens
// sources and fetches from them. The rules that the package keeps:
//
//   - A source that a policy does not allow is not contacted, and servers don't redirect to one.
//   - Names are looked up where the settings and the machine's administrator say, and nowhere else.
//   - Content that differs from what the lock, or else the source, promised is an error.
package fetch
