// Package website reads skills that websites publish under /.well-known/, by the Agent Skills Discovery drafts 0.1 and
// 0.2 (github.com/cloudflare/agent-skills-discovery-rfc, README.md).
//
// A website is one pack of all its skills. It has only a current state, so its version comes from its content, as that
// of a commit does. The rules that the package keeps:
//
//   - An artifact with a digest in the index is used only if it matches.
//   - Artifacts come over HTTPS, from the website or where its index says, and never from this machine's own network
//     unless the website is there.
//   - An index with an unknown schema is an error; an entry of an unknown type is left out with a warning.
//   - Sizes are limited, and archives are unpacked as those of registries are.
package website
