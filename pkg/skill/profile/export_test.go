package profile

// Values returns the names of values in templates of skills and of results.
func Values() (entries, results []string) { return entryValues, resultValues }
