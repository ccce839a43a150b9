// Package catalog lists the skills that an agent sees. It searches the layers of a profile, reads the head of every
// SKILL.md, and determines which skill owns each name.
//
// The rules it keeps:
//
//   - The catalog only reads the frontmatter, and the first paragraph if a description is missing. [Skill.Load] reads
//     the instructions on demand. A directory that may be a copy of an installed skill is compared with it once.
//   - A skill of a layer with higher precedence replaces one of a lower layer completely; nothing is merged. `priority`
//     only decides among the local skills of one layer, and inside one pack.
//   - A skill that a filter excludes (its scope, the allowlist, trust, a policy) shadows nothing: a skill of lower
//     precedence with that name is then available.
//   - A skill that cannot be read is skipped with a finding and affects no other.
//   - An index on disk caches the results, with one file for each directory of skills. Any number of processes may use
//     it at once. It does not depend on a profile, so that it serves all of them. An entry is valid while stat reports
//     the same for its file; a file that changed shortly before it was read is read again. An index that is damaged or
//     of another version is rebuilt.
//   - Skills are untrusted input: every size and number is bounded, only regular files are opened, and links inside a
//     skill must not lead out of it.
//
// Start reading at [Open], then scan.go (read the layers), build.go (make skills of them), filter.go, and
// precedence.go. This package may change at any time.
package catalog
