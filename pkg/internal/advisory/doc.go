// Package advisory reads and matches advisories: published statements that versions of a pack, or the content of a
// skill, are vulnerable or malicious. Start reading at [Parse] and [Advisory.Affects].
//
// An advisory is a record of the Open Source Vulnerability format (OSV, schema 1.7, https://ossf.github.io/osv-schema/)
// with the ecosystem AgentSkills. The rules that the package keeps:
//
//   - A package name is owner/name, and its versions are semantic versions. The name "*" is for content in any pack.
//   - database_specific.trees of an affected package has tree digests of skills. They identify content wherever it is,
//     also in another repository or without a pack.
//   - An advisory is malicious if its id or an alias begins with MAL-, or if database_specific.malicious is true.
//   - A withdrawn advisory matches nothing.
//   - A feed is one file of advisories with a signature about its bytes, its number, and its expiry. A feed with a lower
//     number never replaces one with a higher number.
//   - The package turns bytes into values and back. The only files that it reads are lists of blocked content.
//
// This package may change at any time.
package advisory
