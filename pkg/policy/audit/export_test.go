package audit

// What tests of the package look at.
var (
	Redact      = redact
	RedactWords = redactWords
	Files       = logFiles
)
