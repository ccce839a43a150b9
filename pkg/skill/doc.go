// Package skill reads SKILL.md: YAML frontmatter between two lines of three hyphens, then Markdown.
//
// The rules it keeps:
//
//   - Nothing is thrown away. [Parse] always returns a [Document]; what is wrong with the file is data, a list of
//     [Problem], so that one broken field hides neither the other fields nor the body.
//   - Lines and columns count from 1 in the file as it lies on disk, columns in Unicode code points.
//   - A scalar is the text that its author wrote: 1.10 stays "1.10", and 2026-01-02 is not a point in time.
//   - Names are legal when the Agent Skills specification (agentskills.io) says so: 1 to 64 of a-z, 0-9 and single
//     inner hyphens.
package skill
