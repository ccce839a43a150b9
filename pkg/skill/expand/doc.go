// Package expand puts the arguments of an activation, and what is known about it, into the body of a skill.
//
// The rules are those that hosts keep:
//
//   - Arguments are split as a shell splits words, by spaces and quotes, and counted from 0.
//   - $ARGUMENTS is all of them as they were given, $ARGUMENTS[N] and $N are one, $name is the one that the skill's
//     `arguments:` gives this name by its position. $N is not followed by a word character, $name neither by one nor by
//     [.
//   - An index that there is no argument for stays as it stands, so that $5.00 survives; a name becomes nothing.
//   - A backslash before what could be substituted takes its meaning away and goes: \$1.00 is $1.00. Any other
//     backslash stays, so that \$HOME in a script is what it was.
//   - ${NAME} of the host's variables is what it stands for. One that is not known stays.
//   - Code blocks are no exception: hosts substitute in them too.
//   - Arguments that nothing took are appended as a last line, where the host does that.
//
// A text is read once, from its beginning to its end. What is inserted is never looked at, so that an argument which
// looks like a placeholder or like a command is only text. The time is linear in the text, and what is inserted is
// bounded.
package expand
