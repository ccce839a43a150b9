// Package skillpm is the package manager: its commands, each a method of [Client] with an options struct and a report.
// This package is part of skillpm's embedding API and keeps compatibility.
//
// Start reading at [Client.Install]. Install, update, remove, link, and import are one operation, in operation.go: a
// request leads to a resolution (a manifest and a lockfile), the resolution to a plan, and the plan is applied in one
// transaction. The rules that the package keeps:
//
//   - Nothing in a pack is run.
//   - An operation that fails leaves packs, links, manifest and lockfile as they were.
//   - A file that skillpm did not create is never overwritten.
//   - What is installed matches the digests of the lockfile, or the operation fails.
//
// Nothing here prints. Reports are data with warnings in them, and progress goes to [Options.Progress].
//
// The packages of the room:
//
//   - internal/base has what clients share, and connects solve, fetch, and admission.
//   - internal/workspace is a scope on disk: its desired content, the plan to get there, and the transaction.
//   - internal/solve answers the solver and computes lockfiles.
//   - internal/fetch reaches registries and sources, and fills the store.
//   - internal/admission decides whether packs may be installed.
//   - internal/advisories keeps the feeds of advisories that this machine has verified.
//   - internal/firstseen records since when this machine knows a release.
//   - internal/enterprise keeps the enterprise layer of a machine in step with a signed list.
//   - internal/vendored is the copy of its packs that a project keeps in its repository.
//   - internal/foreign reads the manifests of other tools.
//   - internal/doctor diagnoses projects, the user's installation, and the machine.
package skillpm
