// Package vendored is the copy of its skills that a project keeps in its repository, so that they can be reviewed there
// and installed without a network.
//
// On disk the copy is a directory, one of [dirs]:
//
//	README.md, .gitattributes               what this is, and that git is to leave the bytes alone
//	<owner>/<name>/.skillpm-vendor.json     the record of one pack: its version and the inventories of its skills
//	<owner>/<name>/<skill>/…                the files
//
// The rules that the package keeps:
//
//   - The copy is not trusted: a tree counts only if its digest is that of the lockfile. The record only helps to say
//     which file is wrong, and which directories skillpm created.
//   - Files are read with the bytes and modes that the repository has, so that line endings and Windows make no
//     difference. Links are not followed.
//   - Files that the record does not have, or that differ from it, are neither replaced nor removed without force.
package vendored
