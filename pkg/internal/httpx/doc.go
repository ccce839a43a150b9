// Package httpx is what HTTP clients of registries and indexes share.
//
// The rules it keeps:
//   - Every wait ends. [Patient] repeats a request that a server may answer later a few times, as late as the server
//     asks for, up to a minute, and gives up on an answer that brings next to nothing.
//   - Redirects neither leave HTTPS nor lead into this machine or its link-local network ([CheckRedirect]).
//   - Short answers are read whole or not at all, and up to a limit ([ReadWhole]).
//   - What may hold secrets is left out of messages: [Cause] of an error has no queries of URLs.
package httpx
