// Package flow finds what the code of a skill does: which secrets it reads, which hosts it reaches, what it runs,
// writes, and destroys, and which of the things that it reads or downloads it sends or runs. Start reading at
// [Analyze].
//
// It reads scripts in shell, Python, JavaScript, TypeScript, Ruby, and PowerShell, and the code blocks of Markdown in
// these languages. Facts of code blocks are marked with Shown: no program runs them unless an agent follows the page.
//
// The rules it keeps:
//
//   - It runs nothing, does no I/O, and takes linear time. Broken code gives fewer facts, and no errors.
//   - Statements are read in their order, and every branch counts. Values are literal text if they are known, and
//     the set of the sources that they come from.
//   - Values pass through variables, calls, pipelines, parameters and results of functions, imports, and files that
//     one script writes and another reads.
//   - Sending a variable with a key to a service is what every client does: such a flow is a [Credential], and not
//     [Exfiltrates].
//   - No facts do not mean that code is harmless.
//
// This package may change at any time.
package flow
