// Package policy parses policies and evaluates them: which sources, packs, and skills may be used, and what skills may
// do. It performs no I/O; package enforce reads the files.
//
// Parsing keeps these rules:
//   - [Parse] returns either a complete policy or an error, so that the caller denies everything. It guesses, ignores,
//     and repairs nothing. A key without a value is an error, and so are unknown keys, duplicate keys, anchors,
//     aliases, and tags.
//   - All problems are reported at once, each with its position and a fix.
//   - A rule that can never match, or that matches more than it seems to, is an error: a source that lockfiles spell
//     differently, or an identity pattern without anchors.
//
// Decisions keep these rules:
//   - A denial has precedence. If there is a list of what is allowed, everything else is denied. Of several policies, a
//     [Set], each must allow the operation, so that an additional policy can only tighten.
//   - A restriction applies to every spelling of a source, and a permission only to the spelling that it names.
//   - A policy that cannot be read, see [Broken], and a source that cannot be parsed, are denials.
//
// The packages of this room:
//   - enforce evaluates policies, approvals, and denials for a skill and its files, and confines its scripts.
//   - sandbox confines a command to the files and the network that it may reach.
//   - audit keeps the tamper-evident log of activations, tool decisions, and script runs.
//
// The package internal/capability below pkg finds what a skill's files make it able to do.
//
// Start with [Parse] and [Set]. This package is part of skillpm's embedding API and keeps compatibility.
package policy
