// Package file reads packs from directories of this machine.
//
// A directory is read as it is, without a copy: what is in it when it is fetched is what is installed. In a checkout of
// a git repository, files that git would call unchanged have the bytes and modes that the repository has: a checkout
// with CRLF line endings, or on a system without executable bits, gives the same digests as one without. Everything
// else has the bytes on disk. Nothing is followed out of the directory.
package file
