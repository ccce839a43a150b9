package audit

// Internals that the tests use.
var (
	Redact      = redact
	RedactWords = redactWords
	Files       = logFiles
)
