package syntax

// IsTemplate reports whether reading a JSON file of one document stopped at a placeholder.
func IsTemplate(text []byte) bool {
	j := jsonScanner{content: text, text: text}
	return !j.file() && j.template
}
