package git

import "net/url"

// TokenVariables returns the names of the environment variables that may hold a token for the host of a URL, the most
// exact first.
func TokenVariables(u *url.URL) []string { return tokenVariables(u) }
