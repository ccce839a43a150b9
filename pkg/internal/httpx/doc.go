// Package httpx is the common code of HTTP clients for registries and indexes.
//
// The rules it keeps:
//   - Every wait is bounded. [Patient] retries a request after a transient failure a few times, after the delay that
//     the server requests, up to a minute, and ends stalled responses.
//   - Requests to a host that is overloaded wait together, and fewer of them run in parallel.
//   - Redirects never leave HTTPS ([CheckRedirect]). What a server names is never on this machine or its link-local
//     network ([Confine]).
//   - Short responses are read completely or not at all, up to a limit ([ReadWhole], [Get]).
//   - Messages contain no secrets: [Cause] removes the queries of URLs.
package httpx
