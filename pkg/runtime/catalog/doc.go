// Package catalog finds the skills that are in force: it looks into the layers of a profile, reads what stands at the
// head of every SKILL.md, and settles which skill has which name.
//
// The rules it keeps:
//
//   - Only stage 1 is read and kept: the frontmatter, and the first paragraph where a description is missing. A body is
//     read by [Skill.Load], when somebody asks for it. What may be a copy of an installed skill is compared with it
//     once.
//   - A stronger layer's skill replaces a weaker one's whole; nothing is merged. `priority` decides among the
//     hand-written skills of one entry of layers, and inside one pack, and nowhere else.
//   - A skill that a filter leaves out (its scope, the allowlist, trust, a policy) takes part in nothing: a weaker one
//     of its name is then in force.
//   - A skill that cannot be read is passed over with a finding and stops no other.
//   - What is found is kept in an index on disk, one file for each directory of skills, which any number of processes
//     may use at once. It holds what files say and nothing of a profile, so that it serves all of them. An entry counts
//     as long as its file looks the same to stat; a file that changed at about the time it was read is read again. An
//     index that is damaged, or of another version, is made anew.
//   - Skills are hostile until checked: every size and number is bounded, only regular files are opened, and no link
//     inside a skill leads out of it.
//
// Start reading at [Open], then scan.go (read the layers), build.go (make skills of them), filter.go, and
// precedence.go. This package may change at any time.
package catalog
