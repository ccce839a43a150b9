package rule

// scriptRules are the rules about scripts and data files.
func scriptRules() []Rule {
	return []Rule{
		{
			ID: Shebang, Title: "missing shebang", Severity: w,
			Why: "The system does not know how to run the script. " +
				"If the skill does not call the script by its path, the finding is a note.",
			Fix: "start the script with a line such as #!/usr/bin/env bash",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: Executable, Title: "script is not executable", Severity: w, Fixable: true,
			Why: "The skill calls the script by its path, which requires the executable bit.",
			Fix: "run `chmod +x FILE` and `git update-index --chmod=+x FILE`",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: ShebangCRLF, Title: "shebang ends with CRLF", Severity: e, Fixable: true,
			Why: "The system looks for an interpreter whose name ends with a carriage return. " +
				"If the skill does not call the script by its path, the finding is a note.",
			Fix: "save the script with LF line endings",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\r\nkubectl get nodes\r\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: ShebangBOM, Title: "byte order mark before the shebang", Severity: e, Fixable: true,
			Why: "The file does not start with #!, so the system does not find the shebang. " +
				"If the skill does not call the script by its path, the finding is a note.",
			Fix: "save the script as UTF-8 without a byte order mark",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n\ufeff#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: ShebangLine, Title: "shebang is not on the first line", Severity: w,
			Why: "The system recognizes a shebang only in the first two bytes of a file.",
			Fix: "move the shebang to the first line",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n# Are all nodes there?\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\n# Are all nodes there?\nkubectl get nodes\n",
		},
		{
			ID: Interpreter, Title: "shebang without an absolute path", Severity: w,
			Why: "The system does not search PATH for the interpreter.",
			Fix: "use #!/usr/bin/env and the interpreter's name",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!bash\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/usr/bin/env bash\nkubectl get nodes\n",
		},
		{
			ID: CRLF, Title: "CRLF line endings in a shell script", Severity: w, Fixable: true,
			Why: "Shells read the carriage return as part of the command.",
			Fix: "save the script with LF line endings",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\r\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: ShellSyntax, Title: "shell syntax error", Severity: w,
			Why: "The script stops at the syntax error.",
			Fix: "correct the script",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nif kubectl get nodes; then\n  echo ready\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `./scripts/check.sh` first.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nif kubectl get nodes; then\n  echo ready\n" +
				"fi\n",
		},
		{
			ID: JSONSyntax, Title: "JSON syntax error", Severity: w,
			Why: "Programs that read the file fail.",
			Fix: "correct the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "The regions are in [assets/regions.json](assets/regions.json).\n" +
				"-- deploy/assets/regions.json\n{\"regions\": [\"north\", \"south\",]}\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "The regions are in [assets/regions.json](assets/regions.json).\n" +
				"-- deploy/assets/regions.json\n{\"regions\": [\"north\", \"south\"]}\n",
		},
		{
			ID: YAMLSyntax, Title: "YAML syntax error", Severity: w,
			Why: "Programs that read the file fail.",
			Fix: "correct the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "The regions are in [assets/regions.yaml](assets/regions.yaml).\n" +
				"-- deploy/assets/regions.yaml\nregions: [north, south\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "The regions are in [assets/regions.yaml](assets/regions.yaml).\n" +
				"-- deploy/assets/regions.yaml\nregions: [north, south]\n",
		},
		{
			ID: PythonSyntax, Title: "Python syntax error", Severity: w,
			Why: "The script fails when the skill runs it. `skillpm validate --check-scripts` checks this with python3, " +
				"which compiles the script and does not run it.",
			Fix: "correct the script",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `python3 scripts/check.py` first.\n" +
				"-- deploy/scripts/check.py\nprint(\"ready\"\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `python3 scripts/check.py` first.\n" +
				"-- deploy/scripts/check.py\nprint(\"ready\")\n",
		},
		{
			ID: JavaScriptSyntax, Title: "JavaScript or TypeScript syntax error", Severity: w,
			Why: "The script fails when the skill runs it. `skillpm validate --check-scripts` checks this with node, " +
				"which compiles the script and does not run it. TypeScript requires Node.js 22.13 or later.",
			Fix: "correct the script",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `node scripts/check.mjs` first.\n" +
				"-- deploy/scripts/check.mjs\nconsole.log(\"ready\"\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `node scripts/check.mjs` first.\n" +
				"-- deploy/scripts/check.mjs\nconsole.log(\"ready\")\n",
		},
	}
}
