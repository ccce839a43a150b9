// Package credential keeps what people log in with where Docker keeps it: in config.json and in the credential helpers
// that it names. `docker login`, `oras login` and skillpm share their logins.
//
// The rules it keeps:
//   - A login is for one host, and is never given for another.
//   - A helper that config.json names for a host, or for all, is who keeps the login; else the file does, readable by
//     its owner only.
//   - No secret is in an error: [Secrets] knows those that were given out, and takes them out of what servers repeat.
package credential
