// Package lsp is a language server for skills: diagnostics, hover, completion, quick fixes, and document links in
// SKILL.md, in the files beside it, and in skillpm's own files. Start reading at [Serve]. It may change at any time.
//
// The rules it keeps:
//
//   - What is open in the editor counts, not what is on disk: skills are checked through package overlayfs.
//   - Nothing is changed on disk. Edits are offered, and the editor makes them.
//   - A document that is being typed is seldom valid: fields are found line by line, and nothing waits for valid YAML.
//   - The position of every change and finding is translated between bytes, the linter's lines and columns, and the
//     code units that the client counts in. Lines end as the protocol says: \n, \r\n or \r.
//   - What a client sends may be anything: a message that cannot be understood is answered with an error, and the
//     server goes on.
//   - State is a [view] that never changes and is replaced as a whole, so that a request sees the documents as they
//     were when it came, and requests can be answered side by side.
//
// The protocol is the Language Server Protocol 3.17, https://microsoft.github.io/language-server-protocol.
package lsp
