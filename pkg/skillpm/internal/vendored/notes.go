package vendored

import "bytes"

// The files at the top of a copy.
const (
	readmeName     = "README.md"
	attributesName = ".gitattributes"
)

// mark is in the first line of files that skillpm writes at the top of a copy.
const mark = "written by skillpm vendor"

// hasMark reports whether a file has the mark in its first line.
func hasMark(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return bytes.Contains(line, []byte(mark))
}

// notes returns the files at the top of a copy. The attribute -text keeps git from changing line endings.
func notes() map[string]string {
	return map[string]string{
		attributesName: "# " + mark + "\n* -text\n",
		readmeName: "<!-- " + mark + ": do not edit -->\n" + `# Skills from elsewhere

These are copies of the skills in skillpm.lock, so that changes to them
can be reviewed here and ` + "`skillpm install`" + ` needs neither a network nor a registry.

Do not edit them: files that differ from skillpm.lock are not installed. Your own
skills belong in .agents/skills or .claude/skills, where agents find
them, or in a pack.

    skillpm vendor           updates this directory to skillpm.lock
    skillpm vendor --check   fails if it differs
`,
	}
}
