// Package gittest makes git repositories from recipes and serves them over smart HTTP, for tests.
//
// The server is git's own: `git http-backend` behind net/http/cgi, with basic authentication and TLS where a test asks
// for them. Repositories are bare, made with git's plumbing, and always have the same commits for the same recipe.
// Nothing here reads the configuration of the user who runs the test. Tests are skipped where git is not installed.
package gittest
