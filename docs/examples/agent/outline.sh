#!/bin/sh
# An agent without a model: it reads a task on its standard input and prints what it was told to do, and what it was given
# besides. It runs nothing of what it reads. Use it to try runners, and as a pattern for your own.
set -eu
LC_ALL=C
export LC_ALL

clean=yes
reject() {
	clean=no
	printf 'not clean: %s\n' "$1"
}

printf '# Report of task %s\n\n' "${SKILLPM_TASK_ID:-none}"
printf 'skill: %s\n' "${SKILL_NAME:-none}"
printf 'model: %s\n' "${SKILLPM_MODEL:-none}"

# What stands between fences is an example, not a step.
awk '
	{ words += NF }
	/^[ ]?[ ]?[ ]?(```|~~~)/ { fenced = !fenced; next }
	fenced { next }
	/^#+[ \t]/ { headings[++h] = $0; next }
	/^[ \t]*([0-9]+[.)]|[-*+])[ \t]/ { sub(/^[ \t]*([0-9]+[.)]|[-*+])[ \t]+(\[[ xX]\][ \t]+)?/, ""); steps[++s] = $0 }
	END {
		printf "told: %d lines, %d words\n", NR, words
		printf "\n## Headings\n\n"
		for (i = 1; i <= h; i++) { sub(/^#+[ \t]+/, "", headings[i]); print "- " headings[i] }
		printf "\n## Steps\n\n"
		for (i = 1; i <= s; i++) print i ". " steps[i]
	}
'

printf '\n## Isolation\n\n'
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
	case $name in
	SKILLPM_TASK_ID | SKILLPM_MODEL | SKILLPM_RUN | SKILLPM_CHAIN) ;;
	SKILLPM_SESSION) case $SKILLPM_SESSION in task-*) ;; *) reject "the session $SKILLPM_SESSION" ;; esac ;;
	SKILLPM_* | *TOKEN* | *SECRET* | *PASSWORD* | *API_KEY* | *SESSION*) reject "the variable $name" ;;
	esac
done
for file in * .*; do
	case $file in
	. | .. | '*' | '.*') ;;
	*) reject "the file $file" ;;
	esac
done
printf 'clean: %s\n' "$clean"
[ "$clean" = yes ]
