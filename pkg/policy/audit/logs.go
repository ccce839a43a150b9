package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Logs returns the logs that paths name, each once. A directory stands for all logs in it, and a closed file for its
// log, so that shell patterns do not read a log twice or in the wrong order.
func Logs(paths []string) ([]string, error) {
	var logs []string
	for _, path := range paths {
		path = filepath.Clean(path)
		found := []string{path}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			if found, err = logsIn(path); err != nil {
				return nil, err
			}
		}
		for _, file := range found {
			if log := logPath(file); !slices.Contains(logs, log) {
				logs = append(logs, log)
			}
		}
	}
	return logs, nil
}

// logsIn returns the logs in a directory.
func logsIn(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ext) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, diag.Errorf(diag.NotFound, "no audit log found in %s", dir).
			WithHint("use a directory with log files, whose names end in %s", ext)
	}
	return files, nil
}

// logPath returns the log that a closed file belongs to, and any other path unchanged.
func logPath(file string) string {
	name, dir := filepath.Base(file), filepath.Dir(file)
	end := len(name) - len(ext) - segmentDigits - 1
	if end <= 0 {
		return file
	}
	log := filepath.Join(dir, name[:end]+ext)
	if _, ok := segmentEnd(log, name); !ok {
		return file
	}
	if parts, err := closedFiles(log); err != nil || !slices.Contains(parts, file) {
		return file
	}
	return log
}
