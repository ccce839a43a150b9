// Package enforce evaluates policies: for packs that are installed, skills that are listed and activated, and the
// scripts that skills run. It reads the policies of the machine, the user, and the project, and the recorded approvals
// and denials.
//
// It keeps these rules:
//
//   - All decisions come from an [Evaluator]. No environment variable, setting, or flag can override the machine's
//     policy.
//   - A policy that cannot be read denies everything.
//   - An approval is for the bytes that were reviewed. It does not apply to changed files.
//
// Package policy has the rules and reads no files. Start with [Open] and [Evaluator.Evaluate]. This package may change
// at any time.
package enforce
