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
//   - Nothing in the copy is believed: a tree counts if its digest is the one that the lock has, and else it is not
//     there. The record only helps to say which file is wrong, and whose a directory is.
//   - Files are read as those of a checkout are: with the bytes and modes that the repository has, so that line endings
//     and Windows change nothing. No link is followed.
//   - What the record does not have, or what differs from it, somebody else wrote: it is neither replaced nor removed.
package vendored
