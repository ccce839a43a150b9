// Package enforce evaluates policies: for packs that are installed, skills that are listed and activated, and the
// scripts that skills run. It reads the policies of the machine, the user, and the project, and the recorded approvals
// and denials.
//
// It keeps these rules:
//
//   - [Evaluator] is the only way to a decision. It looks at no environment variable, setting, or flag: what the
//     machine's policy says applies whatever these are.
//   - A policy that cannot be read denies everything.
//   - An approval is for the bytes that were reviewed. After a change it no longer counts.
//
// Package policy holds the rules themselves and reads no files; this package reads the files that they are about. Start
// with [Open] and [Evaluator.Evaluate]. This package may change at any time.
package enforce
