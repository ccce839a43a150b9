// Package skillpm is the package manager: its verbs, each a method of [Client] with an options struct and a report.
// Start reading at [Client.Install]. This package is part of skillpm's embedding API and keeps compatibility.
//
// The rules it keeps: nothing from a pack is ever run; what is written is written in one transaction, so a verb that
// fails leaves the packs, the links, the manifest and the lock as they were; a file that skillpm did not create is
// never overwritten; and what a digest or the lock promised is what gets installed, or the verb fails.
//
// Nothing here prints. Reports are data, warnings are part of them, and progress goes to [Options.Progress].
//
// The packages of the room:
//
//   - internal/enterprise keeps the enterprise layer of a machine in step with a signed list.
//   - internal/workspace is a scope on disk, what it should contain, and the transaction between the two.
//   - internal/vendored is a project's own copy of its packs.
//   - internal/base is what clients share, and wires solve, fetch, and admission together.
//   - internal/solve answers the solver and computes locks.
//   - internal/fetch reaches registries and sources, and fills the store.
//   - internal/admission decides whether packs may be installed.
//   - internal/firstseen records since when this machine knows a release.
//   - internal/packsearch searches the indexes of registries.
//   - internal/foreign reads the manifests of other tools.
//   - internal/doctor looks for what is wrong.
package skillpm
