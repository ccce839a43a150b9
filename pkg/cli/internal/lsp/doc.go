// Package lsp is a language server for skills: diagnostics, hover, completion, quick fixes, and document links in
// SKILL.md, in the files beside it, and in skillpm's own files. Start reading at [Serve]. It may change at any time.
//
// The rules it keeps:
//
// The protocol is the Language Server Protocol 3.17, https://microsoft.github.io/language-server-protocol.
package lsp
