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
	seen, listed := map[string]bool{}, listings{}
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
			if log := listed.logPath(file); !seen[log] {
				seen[log] = true
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
func (l listings) logPath(file string) string {
	name, ok := segmentLog(filepath.Base(file))
	if !ok {
		return file
	}
	log := filepath.Join(filepath.Dir(file), name+ext)
	if parts, err := l.closedFiles(log); err != nil || !slices.Contains(parts, file) {
		return file
	}
	return log
}
