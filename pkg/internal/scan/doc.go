// Package scan finds hostile and risky content in the bytes of a skill's files: instructions and commands that an
// attacker would need, invisible text, secrets, and opaque files. Its rules are data: the YAML files in the directory
// rules, which a test compiles to [Builtin]. Start reading at [Rule], [Scanner.Text], [Scanner.Match], and
// [Scanner.Archive]. This package may change at any time.
//
// The rules it keeps:
//
//   - It is pure and takes linear time for every text. One pass over the bytes searches for several hundred short
//     literals. A check runs only at a literal, and reads a bounded number of bytes around it.
//   - A false positive costs more than a missed trick: it does not report what good skills do for good reasons, and
//     does not take prose for a command or an address.
//   - Results never contain a secret, nor a control character.
//   - No hits does not mean that a file is safe.
package scan
